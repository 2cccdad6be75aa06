import { existsSync } from 'node:fs';

/** How people run this program where they are: in the folder of the project, or where the package is installed. */
export const ownCommand = (): string => (existsSync('bin/relay') ? 'bin/relay' : 'npx relay');

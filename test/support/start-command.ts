import { readFileSync } from 'node:fs';

interface Package {
  scripts: { start: string };
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const [program, ...args] = scripts.start.split(' ');
if (program !== 'node') throw new Error(`npm start runs ${program}, not node`);

/** What `npm start` gives to node. */
export const startArgs: readonly string[] = args;

import { readFileSync } from 'node:fs';

interface Package {
  scripts: { start: string };
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const [exec, program, ...args] = scripts.start.split(' ');
// without exec a shell would be between npm and node, and end alone when it is told to
if (exec !== 'exec' || program !== 'node') throw new Error(`npm start runs ${scripts.start}`);

/** What `npm start` gives to node. */
export const startArgs: readonly string[] = args;

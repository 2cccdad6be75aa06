import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** How a published program ended. */
export interface Ran {
  code: number;
  output: string;
}

/** Runs the program of an installed package, from the lock file and not from the network, for a minute at most. */
export async function runPackage(name: string, args: string[]): Promise<Ran> {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const program = join(dirname(manifest), Object.values(bin)[0]!);
  return await new Promise((resolve) => {
    // the inspector finds its own manifest from where it is only
    const options = { timeout: 60_000, cwd: dirname(program) };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error ? 1 : 0;
      resolve({ code, output: stdout + stderr });
    });
  });
}

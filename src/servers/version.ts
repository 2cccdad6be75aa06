import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './binaries.js';

/** The version of this program and of its API, as `package.json` has it. */
export const { version } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
  version: string;
};

import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Puts a file in place in one step, readable by its owner alone; a crash leaves the old one or the new one. */
export function writePrivateFile(file: string, text: string): void {
  const next = `${file}.new`;
  rmSync(next, { force: true }); // one that a crash has left would keep its mode
  writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
  renameSync(next, file);
}

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A fenced block of a document. */
export interface Block {
  file: string;
  /** The heading that it is under. */
  heading: string;
  /** The word after the fence; empty for shell. */
  language: string;
  text: string;
}

/** The fenced blocks of a document, in order. */
export function blocksOf(file: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const [, title, indent = '', language = '', text = ''] of readFileSync(file, 'utf8').matchAll(
    /^#+ ([^\n]+)$|^( *)```(\w*)\n(.*?)^ *```$/gms,
  )) {
    if (title !== undefined) heading = title;
    else blocks.push({ file, heading, language, text: text.replaceAll(`\n${indent}`, '\n').trimStart() });
  }
  return blocks;
}

/** The same commands for a service elsewhere: only host and port are replaced. */
export function aimedAt(url: string, text: string): string {
  return text.replaceAll(/\b(localhost|127\.0\.0\.1):8100\b/g, new URL(url).host);
}

/** Runs commands like a shell in this folder, without this process's settings. */
export async function shell(
  text: string,
  env: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const options = { env: { PATH, HOME, ...env }, timeout: 60_000, maxBuffer: 10_000_000 };
  try {
    const { stdout, stderr } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], options);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr, message } = error as {
      code: number;
      stdout: string;
      stderr: string;
      message: string;
    };
    return { code: code ?? -1, out: stdout, err: stderr || message };
  }
}

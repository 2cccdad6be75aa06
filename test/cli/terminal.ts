import { commands } from '../../src/cli/commands.js';
import { runCommandLine } from '../../src/cli/core/run.js';
import type { Terminal } from '../../src/cli/core/terminal.js';
import { readConfig } from '../../src/config/config.js';

/** What a command line printed and how it ended. */
export interface Outcome {
  code: number;
  out: string;
  err: string;
}

/** A terminal that keeps what is written to it; `over` makes it one that a person looks at. */
export function recordingTerminal(over: Partial<Terminal> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const statuses: string[] = [];
  const terminal: Terminal = {
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
    room: async () => {},
    isTty: false,
    columns: undefined,
    colours: false,
    status: undefined,
    ask: undefined,
    ...over,
  };
  return { terminal, out, err, statuses };
}

/** Runs a command line in this process, with an environment of its own. */
export async function relay(
  argv: string[],
  options: { env?: NodeJS.ProcessEnv; terminal?: Partial<Terminal>; stop?: AbortSignal } = {},
): Promise<Outcome> {
  const { terminal, out, err } = recordingTerminal(options.terminal);
  const code = await runCommandLine(argv, {
    commands,
    terminal,
    stop: options.stop ?? new AbortController().signal,
    config: () => readConfig(options.env ?? {}),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

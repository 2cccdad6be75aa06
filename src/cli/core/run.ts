import { CommanderError } from 'commander-14';
import { type Config, readConfig } from '../../config/config.js';
import type { Command } from './command.js';
import { endingOf } from './failure.js';
import { Program } from './program.js';
import type { Terminal } from './terminal.js';

/** What a command line runs in. */
export interface Setting {
  commands: Command[];
  terminal: Terminal;
  stop: AbortSignal;
  /** Where the configuration comes from; the process's own environment when absent. */
  config?: () => Config;
}

/** Runs one command line to its end and answers the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCommandLine(argv: string[], setting: Setting): Promise<0 | 1 | 2> {
  const { commands, terminal, stop } = setting;
  // before anything is understood: also a command line that cannot be parsed is answered in the asked form
  const json = argv.includes('--json');
  let read: Config | undefined;
  const config = () => {
    read ??= (setting.config ?? readConfig)();
    return read;
  };
  const program = Program.of(commands, {
    terminal,
    json,
    act: (command, given) => command.run({ ...given, json, terminal, stop, config }),
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    terminal.status?.('');
    // it has written what was asked for, or the overview in place of it
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { exit, code, message, text, hint } = endingOf(error);
    if (json) terminal.err(JSON.stringify({ error: message, code, hint }));
    else terminal.err([`relay: ${text}`, ...(hint ? [hint] : [])].join('\n'));
    return exit;
  }
}

import { isExpected } from '../../../streams/core/errors.js';
import { version } from '../../app/about.js';
import { type Config, readConfig } from '../../app/config.js';
import { type CommandLine, checkArguments, parseCommandLine, unknownCommand } from './arguments.js';
import type { Command, Failed, UsageError } from './command.js';
import { commandHelp, overview, usageOf } from './help.js';
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
  let command: Command | undefined;
  try {
    const line = parseCommandLine(commands, argv);
    command = line.command;
    if (line.options.has('help')) {
      terminal.out(helpAskedFor(commands, line));
      return 0;
    }
    if (line.options.has('version')) {
      terminal.out(json ? JSON.stringify({ version }) : version);
      return 0;
    }
    if (!command && line.arguments.length === 0) {
      terminal.err(overview(commands));
      return 2;
    }
    if (!command) throw unknownCommand(commands, line.arguments);
    checkArguments(commands, command, line.arguments);
    let config: Config | undefined;
    await command.run({
      arguments: line.arguments,
      options: line.options,
      json,
      terminal,
      stop,
      config: () => {
        config ??= (setting.config ?? readConfig)();
        return config;
      },
    });
    return 0;
  } catch (error) {
    terminal.status?.('');
    return explain(error, { terminal, json, command });
  }
}

/** Of the command, of all of a group (`keys`), or of all there are. Throws `UsageError` for what is none of them. */
function helpAskedFor(commands: Command[], { command, arguments: words }: CommandLine): string {
  if (command) return commandHelp(command);
  if (words.length === 0) return overview(commands);
  const group = commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `));
  if (group.length === 0) throw unknownCommand(commands, words);
  return group.map(commandHelp).join('\n\n');
}

function explain(
  error: unknown,
  { terminal, json, command }: { terminal: Terminal; json: boolean; command: Command | undefined },
): 1 | 2 {
  const { message, stack, code, hint, command: meant = command } = error as Partial<UsageError & Failed>;
  const kind = kindOf(error);
  const help = kind === 'usage' ? usageHint(meant) : kind === 'expected' ? hint : undefined;
  if (json) {
    const stable = {
      usage: 'usage',
      config: 'config_invalid',
      expected: code ?? 'failed',
      bug: 'internal_error',
    }[kind];
    terminal.err(JSON.stringify({ error: message, code: stable, ...(help ? { hint: help } : {}) }));
  } else {
    terminal.err(`relay: ${kind === 'bug' ? `this is a bug of ours: ${stack}` : message}`);
    if (help) terminal.err(help);
  }
  return kind === 'usage' || kind === 'config' ? 2 : 1;
}

function kindOf(error: unknown): 'usage' | 'config' | 'expected' | 'bug' {
  const { kind, name } = error as { kind?: string; name?: string };
  if (kind === 'usage') return 'usage';
  if (name === 'ConfigError') return 'config';
  return kind === 'failed' || isExpected(error) ? 'expected' : 'bug';
}

function usageHint(command: Command | undefined): string {
  return command
    ? `usage: ${usageOf(command)}`
    : 'usage: relay <command> [arguments] [options]; "relay help" lists the commands';
}

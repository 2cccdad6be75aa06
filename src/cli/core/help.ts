import { commonOptions } from './arguments.js';
import { type Command, type Option, UsageError } from './command.js';

/** How a command is called, in one line. */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options ?? {}).map(([name, option]) =>
    option.needed ? spelled(name, option) : `[${spelled(name, option)}]`,
  );
  return ['relay', command.name, ...(command.arguments ?? []), ...options].join(' ');
}

/** The list of all commands. */
export function overview(commands: Command[]): string {
  return [
    'Usage: relay <command> [arguments] [options]',
    '',
    ...aligned(commands.map((command) => [command.name, command.summary])),
    '',
    'Every command takes --help, and --json for results and problems in a form for programs; --version prints the version.',
    'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.',
  ].join('\n');
}

/** All there is to say about one command. */
export function commandHelp(command: Command): string {
  const options: [string, Option][] = Object.entries({ ...command.options, ...commonOptions });
  const needed = options.flatMap(([name, option]) => (option.needed ? [spelled(name, option)] : []));
  return [
    `Usage: ${['relay', command.name, ...(command.arguments ?? []), ...needed, '[options]'].join(' ')}`,
    '',
    `${command.summary}.`,
    ...(command.details ? ['', command.details] : []),
    '',
    'Options:',
    ...aligned(options.map(([name, option]) => [spelled(name, option), option.says])),
  ].join('\n');
}

/** The command that prints all this; it is in the list that it prints. */
export function helpCommand(commands: () => Command[]): Command {
  return {
    name: 'help',
    arguments: ['[command]', '[subcommand]'],
    summary: 'Say what the commands do and how they are used',
    async run({ arguments: words, json, terminal }) {
      const name = words.join(' ');
      const wanted = commands().filter(
        (one) =>
          name === '' || one.name === name || one.also?.includes(name) || one.name.startsWith(`${name} `),
      );
      if (wanted.length === 0) throw new UsageError(`there is no command "${name}"`);
      if (json) terminal.out(JSON.stringify(wanted.map(described)));
      else if (name === '') terminal.out(overview(wanted));
      else terminal.out(wanted.map(commandHelp).join('\n\n'));
    },
  };
}

function spelled(name: string, { value }: Option): string {
  return `--${name}${value ? ` ${value}` : ''}`;
}

function described(command: Command) {
  const { name, summary, arguments: names = [], options = {} } = command;
  return { name, summary, usage: usageOf(command), arguments: names, options };
}

function aligned(pairs: [string, string][]): string[] {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

import { parseArgs } from 'node:util';
import { nearestWord } from '../../words/spelling.js';
import { type Command, type Option, UsageError } from './command.js';

/** What a command line says. */
export interface CommandLine {
  /** The command it names; `undefined` when it names none, a wrong one or a group of them. */
  command: Command | undefined;
  /** The words that name no command: its arguments. */
  arguments: string[];
  options: Map<string, string[]>;
}

/** Options that stand behind any command. */
export const commonOptions: Record<string, Option> = {
  json: { says: 'print JSON, for programs' },
  help: { says: 'say how the command is used' },
};
const version: Record<string, Option> = { version: { says: 'print the version' } };

/** Takes a command line apart. Throws `UsageError` for what no command knows. */
export function parseCommandLine(commands: Command[], argv: string[]): CommandLine {
  const known: Record<string, Option> = Object.assign(
    {},
    version,
    commonOptions,
    ...commands.map((c) => c.options ?? {}),
  );
  const { tokens } = parseArgs({
    args: argv,
    options: Object.fromEntries(
      Object.entries(known).map(([name, option]) => [
        name,
        {
          type: option.value ? 'string' : 'boolean',
          ...(name === 'help' || name === 'version' ? { short: name[0]! } : {}),
        } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const { command, count } = findCommand(commands, words);
  const accepted = { ...version, ...commonOptions, ...command?.options };
  const options = new Map<string, string[]>();
  const wantsHelp = tokens.some((token) => token.kind === 'option' && token.name === 'help');
  const wrongCommand = !command && words.length > 0;
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const option = accepted[token.name];
    if (!option) {
      if (wantsHelp || wrongCommand) continue; // there is something better to say
      throw new UsageError(`unknown option ${token.rawName}`, command);
    }
    options.set(token.name, [...(options.get(token.name) ?? []), valueFor(token, option, command)]);
    if (!option.multiple && option.value && options.get(token.name)!.length > 1) {
      throw new UsageError(`${token.rawName} is given twice`, command);
    }
  }
  return { command, arguments: words.slice(count), options };
}

/** Throws `UsageError` when there are too few or too many arguments for the command. */
export function checkArguments(commands: Command[], command: Command, given: string[]): void {
  const expected = command.arguments ?? [];
  const missing = expected.filter((name) => name.startsWith('<'))[given.length];
  if (missing) throw new UsageError(`${missing} is missing`);
  const extra = given[expected.length];
  if (extra === undefined) return;
  const children = commands.map(({ name }) => name).filter((name) => name.startsWith(`${command.name} `));
  const hint = children.length > 0 ? `; there are: ${children.join(', ')}` : '';
  throw new UsageError(`"${extra}" is one argument too many${hint}`);
}

/** What is said about a command that there is not. */
export function unknownCommand(commands: Command[], words: string[]): UsageError {
  const word = words[0]!;
  const names = commands.map(({ name }) => name);
  const children = names.filter((name) => name.startsWith(`${word} `));
  if (children.length > 0) return new UsageError(`"${word}" needs one of: ${children.join(', ')}`);
  const near = nearestWord(word, names);
  return new UsageError(`there is no command "${word}"${near ? `: do you mean "${near}"?` : ''}`);
}

/** The command that the first words name, and how many words those are. */
function findCommand(commands: Command[], words: string[]): { command: Command | undefined; count: number } {
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = commands.find((one) => one.name === name || one.also?.includes(name));
    if (command) return { command, count };
  }
  return { command: undefined, count: 0 };
}

function valueFor(
  token: { rawName: string; value?: string | undefined; inlineValue?: boolean | undefined },
  option: Option,
  command: Command | undefined,
): string {
  if (!option.value) {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`, command);
    return '';
  }
  // an option behind an option is a forgotten value; one that really begins so can be given with =, and what looks
  // like a negative number is meant as one
  const forgotten = token.value === undefined || (!token.inlineValue && /^-(?!\.?\d)./.test(token.value));
  if (forgotten)
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.value}`, command);
  return token.value!;
}

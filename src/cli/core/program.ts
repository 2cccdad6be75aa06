import {
  type CommanderError,
  Help,
  type HelpContext,
  Command as Node,
  Option as NodeOption,
} from 'commander-14';
import { version } from '../../servers/version.js';
import type { Command, Invocation, Option } from './command.js';
import { UsageError } from './failure.js';
import type { Terminal } from './terminal.js';

/** Where the program writes, and what it does with a command line that it has understood. */
export interface ProgramSetting {
  terminal: Pick<Terminal, 'out' | 'err' | 'columns' | 'colours'>;
  /** Whether the version is wanted as JSON. */
  json: boolean;
  act(
    command: Command,
    given: Pick<Invocation<Record<string, unknown>>, 'arguments' | 'options'>,
  ): Promise<void>;
}

/** What the parser passes on in place of a missing value. */
const absent = Symbol('absent');
const footer = `
Every command takes --help, and --json for results and problems in a form for programs; --version prints the version.
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.`;

/** `relay`, or one word of it: what it does itself, and the commands below it. */
export class Program extends Node {
  readonly #setting: ProgramSetting;
  #definition: Command | undefined;

  /**
   * Builds the program from its commands. Its `parseAsync` throws `UsageError` for what none of them knows.
   */
  static of(commands: Command[], setting: ProgramSetting): Program {
    const program = new Program('relay', setting)
      .usage('<command> [arguments] [options]')
      .version(setting.json ? JSON.stringify({ version }) : version, '-v, --version', 'print the version')
      .addHelpText('after', footer);
    for (const command of commands) {
      program.#at(command.name).#define(command);
      for (const name of command.also ?? []) program.#at(name, true).#define(command);
    }
    return program;
  }

  private constructor(name: string, setting: ProgramSetting) {
    super(name);
    this.#setting = setting;
    const { terminal } = setting;
    this.configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: () => {}, // what is thrown says the same
      getOutHelpWidth: () => terminal.columns ?? 120,
      getOutHasColors: () => terminal.colours,
    });
    this.configureHelp({
      optionTerm: ({ short, flags }) => (short ? flags : flags.replace(/[[\]]/g, '')),
      optionDescription: ({ description }) => description,
      subcommandTerm: (command) => (command as Program).path,
      formatHelp: (command, helper) => {
        helper.visibleCommands = () => (this.parent ? [] : this.all);
        return Help.prototype.formatHelp.call(helper, command, helper);
      },
    });
    this.helpCommand(false)
      .helpOption('-h, --help', 'say how the command is used')
      .option('--json', 'print JSON, for programs')
      .enablePositionalOptions()
      .exitOverride((error) => {
        throw error.exitCode === 0 || error.code === 'commander.help'
          ? error
          : this.#wrong(said(error, this));
      });
  }

  /** The words after `relay` that lead here. */
  get path(): string {
    return this.parent?.parent ? `${(this.parent as Program).path} ${this.name()}` : this.name();
  }

  /** What it does itself; `undefined` if it only has commands below it. */
  get definition(): Command | undefined {
    return this.#definition;
  }

  /** Every command below it, without aliases. */
  get all(): Program[] {
    const children = this.createHelp().visibleCommands(this) as Program[];
    return children.flatMap((child) => [...(child.#definition ? [child] : []), ...child.all]);
  }

  /** How it is called, in one line. */
  get usageLine(): string {
    const { arguments: names = [], options = {} } = this.#definition ?? {};
    const spelled = Object.entries(options).map(([name, option]) =>
      option.needed ? spell(name, option) : `[${spell(name, option)}]`,
    );
    return ['relay', this.path, ...names, ...spelled].join(' ');
  }

  /** The one at a path below it, in words; `undefined` if it does not exist. */
  find(words: string[]): Program | undefined {
    const [word, ...rest] = words;
    if (word === undefined) return this;
    return (this.commands as Program[]).find((child) => child.name() === word)?.find(rest);
  }

  /** Its help, and that of all commands below it. For the whole program, a list of them. */
  override helpInformation(context?: HelpContext): string {
    const [word] = this.args;
    if (!this.#definition && word !== undefined && !word.startsWith('-')) this.#refuse(word);
    const own = this.parent && !this.#definition ? [] : [super.helpInformation(context)];
    return [...own, ...(this.parent ? this.all.map((child) => child.helpInformation()) : [])].join('\n');
  }

  /** The one at a path; it is made if it does not exist yet. */
  #at(path: string, hidden = false): Program {
    return path.split(' ').reduce((node: Program, word) => {
      const found = node.find([word]);
      if (found) return found;
      const made = new Program(word, this.#setting);
      node.addCommand(made, { hidden });
      return made.allowExcessArguments().action(() => made.#refuse(made.args[0]));
    }, this);
  }

  #define(command: Command): void {
    const { summary, details, arguments: names = [], options = {} } = command;
    this.#definition = command;
    const needed = Object.entries(options).flatMap(([name, option]) =>
      option.needed ? spell(name, option) : [],
    );
    this.summary(summary)
      .description([`${summary}.`, ...(details ? ['', details] : [])].join('\n'))
      .usage([...names, ...needed, '[options]'].join(' '));
    for (const name of names) this.argument(name);
    for (const [name, option] of Object.entries(options)) this.addOption(this.#parsed(name, option));
    this.action(async () => {
      try {
        this.#checkCount(names.length);
        await this.#setting.act(command, { arguments: this.args, options: this.#values(options) });
      } catch (error) {
        throw this.#wrong(error);
      }
    });
  }

  #parsed(name: string, option: Option<unknown>): NodeOption {
    if (!option.value) return new NodeOption(`--${name}`, option.says);
    const flag = `--${name}`;
    const parsed = new NodeOption(`${flag} [${option.value}]`, option.says).preset(absent);
    // a word that looks like another option is not a value, unless it follows a `=`
    parsed.argParser((given: string | typeof absent, before: unknown) => {
      try {
        if (given === absent) throw new UsageError(`${flag} needs a value: ${spell(name, option)}`);
        if (before !== undefined && !option.multiple) throw new UsageError(`${flag} is given twice`);
        const value = option.read ? option.read(given, flag) : given;
        return option.multiple ? [...((before as unknown[]) ?? []), value] : value;
      } catch (error) {
        throw this.#wrong(error);
      }
    });
    return parsed.makeOptionMandatory(option.needed ?? false);
  }

  #values(options: Record<string, Option<unknown>>): Record<string, unknown> {
    const given = this.optsWithGlobals();
    return Object.fromEntries(
      Object.entries(options).map(([name, { value, multiple }]) => {
        const absentAs = multiple ? [] : value ? undefined : false;
        return [name, given[new NodeOption(`--${name}`).attributeName()] ?? absentAs];
      }),
    );
  }

  #checkCount(most: number): void {
    const extra = this.args[most];
    if (extra === undefined) return;
    const hint = this.all.length > 0 ? `; there are: ${this.all.map(({ path }) => path).join(', ')}` : '';
    throw new UsageError(`"${extra}" is one argument too many${hint}`);
  }

  #refuse(word: string | undefined): void {
    if (!this.parent) this.parse([word!], { from: 'user' }); // by itself it is refused, with the nearest name
    const children = this.all.map(({ path }) => path).join(', ');
    throw new UsageError(`"${this.name()}" needs one of: ${children}`);
  }

  /** Makes a usage error say how this command is used. */
  #wrong(error: unknown): unknown {
    if (error instanceof UsageError && this.#definition) error.usage ??= this.usageLine;
    return error;
  }
}

function spell(name: string, { value }: Option<unknown>): string {
  return `--${name}${value ? ` ${value}` : ''}`;
}

/** The parser's errors in our words. */
function said({ code, message }: CommanderError, node: Program): UsageError {
  const [, word = ''] = /'(.*)'/.exec(message) ?? [];
  const [, near] = /\(Did you mean (?:one of )?(.*)\?\)/.exec(message) ?? [];
  const meant = near ? `: do you mean "${near}"?` : '';
  const [flag = ''] = word.split(/[ =]/);
  switch (code) {
    case 'commander.unknownCommand':
      return new UsageError(`there is no command "${word}"${meant}`);
    case 'commander.unknownOption':
      if (word.includes('=') && node.options.some(({ long }) => long === flag))
        return new UsageError(`${flag} takes no value`);
      return new UsageError(`unknown option ${flag}${meant}`);
    case 'commander.missingArgument':
      return new UsageError(`<${word}> is missing`);
    case 'commander.missingMandatoryOptionValue':
      return new UsageError(`${flag} is missing`);
    default:
      return new UsageError(message);
  }
}

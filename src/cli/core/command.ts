import type { Config } from '../../config/config.js';
import { UsageError } from './failure.js';
import type { Terminal } from './terminal.js';

/** An option of a command, and as what its value is read. */
export interface Option<T> {
  says: string;
  /** The placeholder of the value in the help text: `FILE`. One without is a switch. */
  value?: string;
  /** The command cannot do without it. */
  needed?: boolean;
  /** May be given more than once. */
  multiple?: boolean;
  /** Reads one value; `flag` is how the option is spelled. Throws `UsageError`. */
  read?(text: string, flag: string): T;
}

/** The options of a command, by name. */
export type Options = Record<string, Option<unknown>>;

/** What the options of a command were given as. */
export type Values<O extends Options> = {
  [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** One command of the operators' command line. */
export interface Command<O extends Options = Options> {
  /** One or two words. */
  name: string;
  /** Other names that it answers to, which begin with this one. */
  also?: string[];
  /** One line for the list of commands. */
  summary: string;
  /** Its arguments as the help text shows them: `<stream>` is needed, `[name]` is not. */
  arguments?: string[];
  options?: O;
  /** What else there is to know, in whole lines. */
  details?: string;
  /** Throws `UsageError` or `Failed`, or what is expected of the parts it works with; whatever else it throws is a bug. */
  run(invocation: Invocation<Values<O>>): Promise<void>;
}

/** A command as it was called. */
export interface Invocation<V = object> {
  arguments: string[];
  options: V;
  /** Print for programs: one JSON document, or one per line. */
  json: boolean;
  terminal: Terminal;
  /** Aborts when the operator wants it to end. */
  stop: AbortSignal;
  /** Reads the configuration at the first call. Throws `ConfigError`. */
  config(): Config;
}

/** Defines a command whose `run` gets its options with their types. */
export function defineCommand<const O extends Options = Record<never, never>>(command: Command<O>): Command {
  return command as unknown as Command;
}

/** A switch. */
export function flag(says: string): Option<boolean> {
  return { says };
}

/** An option with a text. */
export function text(value: string, says: string): Option<string | undefined> {
  return { value, says };
}

/** An option with a text that must be given. */
export function neededText(value: string, says: string): Option<string> {
  return {
    value,
    says,
    needed: true,
    read: (given, flag) => {
      if (given === '') throw new UsageError(`${flag} is missing`);
      return given;
    },
  };
}

/** An option with a whole number from `min` on. */
export function wholeNumber(value: string, says: string, min = 1): Option<number | undefined> {
  return neededNumber(value, says, min, false);
}

/** An option with a whole number from `min` on that must be given. */
export function neededNumber(value: string, says: string, min = 1, needed = true): Option<number> {
  return {
    value,
    says,
    needed,
    read: (given, flag) => {
      if (/^\d{1,15}$/.test(given) && Number(given) >= min) return Number(given);
      throw new UsageError(`${flag} must be a whole number from ${min} on`);
    },
  };
}

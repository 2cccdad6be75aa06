import type { Config } from '../../app/config.js';
import type { Terminal } from './terminal.js';

/** An option of a command; one that takes no `value` is a switch. */
export interface Option {
  /** What stands for the value in the help text: `FILE`. */
  value?: string;
  /** The command cannot do without it. */
  needed?: true;
  /** May be given more than once. */
  multiple?: true;
  says: string;
}

/** One command of the operators' command line. */
export interface Command {
  /** One or two words. */
  name: string;
  /** Other names that it answers to. */
  also?: string[];
  /** One line for the list of commands. */
  summary: string;
  /** Its arguments as the help text shows them: `<stream>` is needed, `[name]` is not. */
  arguments?: string[];
  options?: Record<string, Option>;
  /** What else there is to know, in whole lines. */
  details?: string;
  /** Throws `UsageError` or `Failed`; whatever else it throws is a bug. */
  run(invocation: Invocation): Promise<void>;
}

/** A command as it was called. */
export interface Invocation {
  arguments: string[];
  /** The values of each option that was given; a switch has `['']`. */
  options: Map<string, string[]>;
  /** Print for programs: one JSON document, or one per line. */
  json: boolean;
  terminal: Terminal;
  /** Aborts when the operator wants it to end. */
  stop: AbortSignal;
  /** Reads the configuration at the first call. Throws `ConfigError`. */
  config(): Config;
}

/** The command was called in a way that it does not know: exit code 2. */
export class UsageError extends Error {
  readonly kind = 'usage';
  /** `command`: the one whose usage is to be shown; the running one when absent. */
  constructor(
    message: string,
    readonly command?: Command,
  ) {
    super(message);
  }
}

/** The command did not do what it was asked for: exit code 1. `code` is stable, for programs. */
export class Failed extends Error {
  readonly kind = 'failed';
  constructor(
    message: string,
    readonly code = 'failed',
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** The last value of an option; `undefined` when it was not given. */
export function optionValue(invocation: Invocation, option: string): string | undefined {
  return invocation.options.get(option)?.at(-1);
}

/** An option that is a whole number from `min` on; `undefined` when it was not given. Throws `UsageError`. */
export function wholeNumber(invocation: Invocation, option: string, min = 1): number | undefined {
  const text = optionValue(invocation, option);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < min) {
    throw new UsageError(`--${option} must be a whole number from ${min} on`);
  }
  return number;
}

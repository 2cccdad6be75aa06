import { isExpected } from '../../../streams/core/errors.js';

/** The command was called in a way that it does not know: exit code 2. */
export class UsageError extends Error {
  readonly kind = 'usage';
  /** How the command that was meant is called, in one line. */
  usage: string | undefined;
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

/** Whether the operator has ended what threw this. */
export function isInterruption(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'interrupted';
}

/** How a command line ended that did not do what it was meant to. */
export interface Ending {
  exit: 1 | 2;
  /** The stable code of the failure, for programs. */
  code: string;
  message: string;
  /** The message as people see it. */
  text: string;
  /** What to do about it. */
  hint?: string | undefined;
}

const anyUsage = 'relay <command> [arguments] [options]; "relay help" lists the commands';

/** The commands that show what the hints of the service send readers to. */
const commandOf: Record<string, string> = {
  'GET /ops/projections': '"relay projections"',
  'GET /ops/workers': '"relay workers"',
  'GET /ops/dead-letters': '"relay dead-letters"',
  'GET /ops/events': '"relay events market"',
  'GET /guardian/incidents': '"relay incidents"',
};

/** A hint of the service for people at a command line. */
function withCommands(hint: string | undefined): string | undefined {
  return hint?.replace(/GET \/[a-z/-]+/g, (route) => commandOf[route] ?? route);
}

/** What an error means to whoever has called a command: the only place that gives exit codes. */
export function endingOf(error: unknown): Ending {
  const { kind, name, message = '', code = 'failed', hint, usage, stack } = error as Partial<Known>;
  const told = { message, text: message };
  if (kind === 'usage') return { ...told, exit: 2, code: 'usage', hint: `usage: ${usage ?? anyUsage}` };
  if (name === 'ConfigError') return { ...told, exit: 2, code: 'config_invalid' };
  // the service tells how a key is sent in a request, which is not what helps at a command line
  if (name === 'RelayError' && code.startsWith('api_key_'))
    return { ...told, exit: 1, code, hint: 'Give the key with --key or RELAY_API_KEY.' };
  if (kind === 'failed' || name === 'RelayError' || isExpected(error))
    return { ...told, exit: 1, code, hint: withCommands(hint) };
  return { exit: 1, code: 'internal_error', message, text: `this is a bug of ours: ${stack}` };
}

type Known = Error & { kind: string; code: string; hint: string; usage: string };

import { type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { isExpected } from '../../../streams/core/errors.js';
import type { Terminal } from '../core/terminal.js';

/** The service's own log on standard output: for people on a terminal, as JSON lines elsewhere. */
export function openLogger(level: string, terminal: Terminal): Logger {
  const options = { level, serializers: { err: errorView } };
  // written at once and in this thread: the last line before an exit is the one that matters
  if (!terminal.isTty) return pino(options, pino.destination({ dest: 1, sync: true }));
  const pretty = PinoPretty({
    colorize: terminal.colours,
    sync: true,
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
  });
  return pino(options, pretty);
}

/** An error as the log shows it. What is expected, such as a part that is not up yet, is told by its words: no stack says more. */
export function errorView(error: Error): object {
  if (!isExpected(error)) return pino.stdSerializers.err(error);
  return { type: error.name, code: error.code, message: error.message };
}

import { type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { isExpected } from '../../../streams/core/errors.js';
import type { Terminal } from '../core/terminal.js';

/** The service's own log on standard output: for people on a terminal, as JSON lines elsewhere. */
export function openLogger(level: string, terminal: Terminal): Logger {
  const options = { level, serializers: { err: errorView } };
  if (!terminal.isTty) return pino(options, standardOutput());
  const pretty = PinoPretty({
    colorize: terminal.colours,
    sync: true,
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
  });
  return pino(options, pretty);
}

/** Lines that wait for room on the disk, in bytes; those that come after them are lost. */
const mostWaiting = 16 * 2 ** 20;

/** The standard output, which may be a file: where its disk is full, lines wait, and no error ends the service. */
function standardOutput() {
  // Written at once and in this thread: the last line before an exit is the one that matters. Without a `minLength`
  // `flush` does nothing.
  const output = pino.destination({ dest: 1, sync: true, minLength: 1, maxLength: mostWaiting });
  // the next line tries again, with all that waits before it
  output.on('error', () => {});
  output.on('drop', () => output.flush());
  // pino calls this after a fatal line: where there is no room, its own waits for ever, and nothing else runs
  output.flushSync = () => output.flush();
  return output;
}

/** An error as the log shows it. What is expected, such as a part that is not up yet, is told by its words: no stack says more. */
export function errorView(error: Error): object {
  if (!isExpected(error)) return pino.stdSerializers.err(error);
  return { type: error.name, code: error.code, message: error.message };
}

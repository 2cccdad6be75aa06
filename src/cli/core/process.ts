import { processTerminal, type Terminal, taken } from './terminal.js';

/**
 * A signal this soon after the first is the same key press: npm passes on what the terminal has sent already.
 * In milliseconds.
 */
const samePressMs = 500;
/** How long the process may stay alive at its end, besides the wait for its readers; in milliseconds. */
const lingerMs = 500;

/**
 * Runs the body of a program. The first signal asks it to stop, a second one ends it at once. Its result is
 * the exit code; a body that is done has failed nevertheless when its output was lost. The process ends when
 * its output was taken: a signal ends that wait.
 */
export async function runProcess(
  body: (terminal: Terminal, stop: AbortSignal) => Promise<number>,
): Promise<void> {
  const stop = new AbortController();
  const terminal = processTerminal();
  let output: 'whole' | 'seen enough of' | 'lost' = 'whole';
  let result: number | undefined;
  const codeOf = (ended: number) => {
    if (output === 'whole') return ended;
    return output === 'lost' ? ended || 1 : 0;
  };
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // what was started must still be ended properly
    stop.abort();
    if (output !== 'whole') return;
    // the reader of the pipe has gone, or not all that was written has arrived
    output = error.code === 'EPIPE' ? 'seen enough of' : 'lost';
    if (output !== 'lost') return;
    terminal.err(outputLost(error));
    // a pipe or a disk may say so only after the body has ended
    if (result !== undefined) process.exitCode = codeOf(result);
  });
  process.stderr.on('error', () => {});
  let stoppedBy: number | undefined;
  const isWaiting = () => process.stdout.writableLength > 0 || process.stderr.writableLength > 0;
  const end = () => {
    // what was cut off is not done
    if (stoppedBy !== undefined && isWaiting()) process.exitCode ||= 128 + stoppedBy;
    process.exit();
  };
  onSignals((number) => {
    stoppedBy = number;
    stop.abort();
    if (result !== undefined && isWaiting()) end();
  });
  result = await body(terminal, stop.signal);
  process.exitCode = codeOf(result);
  setTimeout(() => {
    if (stoppedBy !== undefined) return end();
    void Promise.all([taken(process.stdout), taken(process.stderr)]).then(end);
  }, lingerMs).unref();
}

/** One line, in the form in which the command line was asked to tell of problems. */
function outputLost({ message }: Error): string {
  const error = `the output could not be written, and is not whole: ${message}`;
  const hint = 'Make room or write it elsewhere, and run the command again.';
  if (process.argv.includes('--json')) return JSON.stringify({ error, code: 'output_lost', hint });
  return `relay: ${error}. ${hint}`;
}

/** Calls at the first signal, with its number; a second one ends the process at once. */
function onSignals(first: (number: number) => void): void {
  let firstAt: number | undefined;
  const signals: [NodeJS.Signals, number][] = [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ];
  // a terminal that is closed; without one, as under nohup, the signal is for others
  if (process.stdout.isTTY) signals.push(['SIGHUP', 1]);
  for (const [signal, number] of signals) {
    process.on(signal, () => {
      if (firstAt !== undefined && Date.now() - firstAt > samePressMs) process.exit(128 + number);
      if (firstAt === undefined) first(number);
      firstAt ??= Date.now();
    });
  }
}

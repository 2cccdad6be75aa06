import { processTerminal, type Terminal } from './terminal.js';

/**
 * A signal this soon after the first is the same key press: npm passes on what the terminal has sent already.
 * In milliseconds.
 */
const samePressMs = 500;
/** How long the process may stay alive at its end, in milliseconds. */
const lingerMs = 500;

/**
 * Runs the body of a program. The first signal asks it to stop, a second one ends it at once. Its result is
 * the exit code.
 */
export async function runProcess(
  body: (terminal: Terminal, stop: AbortSignal) => Promise<number>,
): Promise<void> {
  const stop = new AbortController();
  let seenEnough = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // the reader of the pipe has gone; what was started must still be ended properly
    seenEnough ||= error.code === 'EPIPE';
    stop.abort();
  });
  process.stderr.on('error', () => {});
  stopOnSignals(stop);
  const result = await body(processTerminal(), stop.signal);
  const code = seenEnough ? 0 : result;
  process.exitCode = code;
  setTimeout(() => process.exit(code), lingerMs).unref();
}

function stopOnSignals(stop: AbortController): void {
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
      firstAt ??= Date.now();
      stop.abort();
    });
  }
}

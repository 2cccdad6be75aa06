import { processTerminal, type Terminal } from './terminal.js';

/** A signal this soon after the first is the same key press: npm passes on what the terminal has sent already. */
const samePressMs = 500;

/** Runs the body of a program: signals ask it to stop, a second one ends it at once, its result is the exit code. */
export async function runProcess(
  body: (terminal: Terminal, stop: AbortSignal) => Promise<number>,
): Promise<void> {
  // the reader of a pipe has seen enough
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.stderr.on('error', () => {});
  const code = await body(processTerminal(), stopSignal());
  process.exitCode = code;
  // what still keeps the process alive is not worth waiting for
  setTimeout(() => process.exit(code), 500).unref();
}

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let firstAt: number | undefined;
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.on(signal, () => {
      if (firstAt !== undefined && Date.now() - firstAt > samePressMs) process.exit(128 + number);
      firstAt ??= Date.now();
      stop.abort();
    });
  }
  return stop.signal;
}

import { randomInt } from 'node:crypto';
import { createServer, type Socket, connect as tcpConnect } from 'node:net';

// Below the range that the kernel gives to outgoing connections. A client that reconnects to a closed
// loopback port inside that range can be given this very port. Then it connects to itself and keeps the
// server from coming back. Ports from 20,000 on are left to the tests.
const lowest = 15_000;
const highest = 20_000;

/** A port that was free a moment ago. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    if (await isFree(port, host)) return port;
  }
}

/** Whether nothing listens on the port. */
export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/**
 * Talks to a server over its own connection until `settle` is called with the result. `false` if the
 * connection ends before, or if there is no result within `timeoutMs`.
 */
export function probe(
  { port, host = '127.0.0.1' }: { port: number; host?: string },
  timeoutMs: number,
  talk: (socket: Socket, settle: (result: boolean) => void) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tcpConnect({ port, host: host === '0.0.0.0' ? '127.0.0.1' : host });
    const settle = (result: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    talk(socket, settle);
  });
}

/** Connects, sends `hello` and answers whether the first bytes of the answer match within `timeoutMs`. */
export function answers(
  server: { port: number; host?: string },
  hello: string,
  expected: RegExp,
  timeoutMs = 1_000,
): Promise<boolean> {
  return probe(server, timeoutMs, (socket, settle) => {
    let seen = '';
    socket.once('connect', () => socket.write(hello));
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
      if (expected.test(seen)) settle(true);
      else if (seen.length > 65_536) settle(false);
    });
  });
}

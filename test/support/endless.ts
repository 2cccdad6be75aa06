import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './server-process.js';

/**
 * How an answer goes on: never begun, its headers and then nothing, a byte now and then, or as much as is taken.
 */
export type Manner = 'mute' | 'silent' | 'drip' | 'flood';

/** A real HTTP server whose answers never end. */
export interface EndlessServer {
  readonly url: string;
  readonly port: number;
  /** Requests that came. */
  asked: number;
  /** Answers that are under way: the other side has not left. */
  open: number;
}

const goOn: Record<Manner, (response: ServerResponse) => void> = {
  mute: () => undefined,
  silent: (response) => response.flushHeaders(),
  drip: (response) => {
    response.write('{');
    const dripping = setInterval(() => response.write(' '), 50);
    response.once('close', () => clearInterval(dripping));
  },
  flood: function more(response) {
    while (!response.destroyed && response.write(' '.repeat(10_000)));
    if (!response.destroyed) response.once('drain', () => more(response));
  },
};

/** Starts one that answers each request with these headers. */
export async function startEndless(
  t: Teardown,
  manner: Manner,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<EndlessServer> {
  const server = createServer((request, response) => {
    endless.asked += 1;
    endless.open += 1;
    response.once('close', () => {
      endless.open -= 1;
    });
    request.resume();
    response.writeHead(200, headers);
    goOn[manner](response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endless = { url: `http://127.0.0.1:${port}`, port, asked: 0, open: 0 };
  return endless;
}

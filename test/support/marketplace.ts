import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './server-process.js';

/** A request that a test server got. */
export interface SeenRequest {
  method: string;
  /** Path and query as they came. */
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A real HTTP server in the place of the marketplace; `answer` may be replaced at any time. */
export interface TestMarketplace {
  url: string;
  seen: SeenRequest[];
  answer(request: SeenRequest, response: ServerResponse): void;
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Starts a marketplace that answers every request with what it saw. */
export async function startMarketplace(t: Teardown): Promise<TestMarketplace> {
  const marketplace: TestMarketplace = {
    url: '',
    seen: [],
    answer: ({ method, url, body }, response) => sendJson(response, 200, { method, url, body }),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(chunks).toString() };
    marketplace.seen.push(seen);
    marketplace.answer(seen, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  marketplace.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return marketplace;
}

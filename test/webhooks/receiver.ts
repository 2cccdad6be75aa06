import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../support/eventually.js';
import type { Teardown } from '../support/server-process.js';

/** One request as the receiver got it. */
export interface Received {
  path: string;
  raw: string;
  status: number;
  headers: IncomingMessage['headers'];
  event: { event_id: string; event_type: string; payload: Record<string, unknown> & { text: string } };
}

/** An agent's own server, which takes everything until it is told to answer otherwise. */
export class Receiver {
  url = '';
  readonly received: Received[] = [];
  answer = (_path: string, _text: string): number => 204;

  /** Texts of the messages that came to a path, and of those that it took. */
  texts(path: string): string[] {
    return this.received.filter((one) => one.path === path).map(({ event }) => event.payload.text);
  }

  taken(path: string): string[] {
    const taken = this.received.filter((one) => one.path === path && one.status < 300);
    return taken.map(({ event }) => event.payload.text);
  }

  async until(what: string, isThere: () => boolean): Promise<void> {
    await eventually(what, async () => isThere());
  }
}

/** Starts one on loopback. */
export async function startReceiver(t: Teardown): Promise<Receiver> {
  const receiver = new Receiver();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString();
    const event = JSON.parse(raw) as Received['event'];
    const path = request.url ?? '';
    const status = receiver.answer(path, event.payload.text);
    receiver.received.push({ path, raw, status, headers: request.headers, event });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';

/** A request as it is put on the wire; nothing of it needs to be legal. */
export interface Wanted {
  method: string;
  /** Path and query, as they are sent. */
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
}

/** What came back. */
export interface Got {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** How long an answer may take, in milliseconds. */
const boundMs = 60_000;
/** How much of an answer is kept, in characters. */
const mostKept = 2_000_000;

/** Sends requests to one server, illegal ones too. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** Throws when no answer comes. */
  async ask(wanted: Wanted): Promise<Got> {
    const { method } = wanted;
    const isLegal =
      /^[A-Z]+$/.test(method) &&
      /^[\x21-\x7e]+$/.test(wanted.target) &&
      // what is refused before it is known to be HEAD gets a body
      wanted.headers.every(
        ([name, value]) =>
          /^[\w-]+$/.test(name) &&
          /^[\t\x20-\x7e]*$/.test(value) &&
          (method !== 'HEAD' || value.length < 4_000),
      );
    return isLegal ? await this.#legal(wanted) : await this.#raw(wanted);
  }

  close(): void {
    this.#agent.destroy();
  }

  #legal({ method, target, headers, body }: Wanted): Promise<Got> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path: target,
        agent: this.#agent,
        headers: [...withHost(headers, this.#port), ...lengthOf(method, body)].flat(),
        signal: AbortSignal.timeout(boundMs),
      });
      outgoing.on('response', (response) => collect(response).then(resolve, reject));
      // an answer may come before the whole body was taken
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** Bytes that no library would send, on a connection of their own. */
  #raw({ method, target, headers, body }: Wanted): Promise<Got> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.setTimeout(boundMs, () => socket.destroy(new Error('no answer in time')));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)));
      socket.on('close', () => {
        const answer = Buffer.concat(chunks)
          .toString('utf8')
          .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
        const [, status, head = '', text = ''] =
          /^HTTP\/1\.1 (\d{3})[^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(answer) ?? [];
        if (status === undefined) reject(new Error(`no answer but ${JSON.stringify(answer.slice(0, 200))}`));
        else resolve({ status: Number(status), headers: headersOf(head), text });
      });
      const lines = [
        ...withHost(headers, this.#port),
        ['Connection', 'close'],
        ...lengthOf(method, body),
      ].map(([name, value]) => `${name}: ${value}`);
      socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      if (body) socket.write(body);
    });
  }
}

function withHost(headers: Wanted['headers'], port: number): Wanted['headers'] {
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host');
  return hasHost ? headers : [['Host', `127.0.0.1:${port}`], ...headers];
}

function lengthOf(method: string, body: Buffer | undefined): Wanted['headers'] {
  const hasNone = body === undefined && /^(GET|HEAD|OPTIONS|TRACE)$/.test(method);
  return hasNone ? [] : [['Content-Length', String(body?.length ?? 0)]];
}

/** Streams of events have no end that one could wait for: their head is the answer. */
async function collect(response: IncomingMessage): Promise<Got> {
  const { statusCode = 0, headers } = response;
  const answer = { status: statusCode, headers };
  if (/event-stream/.test(headers['content-type'] ?? '')) {
    response.on('error', () => undefined).destroy();
    return { ...answer, text: '' };
  }
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) if (text.length < mostKept) text += chunk;
  return { ...answer, text };
}

function headersOf(head: string): Record<string, string> {
  return Object.fromEntries(
    head.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

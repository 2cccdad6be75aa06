import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/** The bytes of a request on a kept-alive connection. */
export function rawRequest(
  url: string,
  { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: object; body?: string } = {},
): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}${length}\r\n${body}`,
  );
}

/**
 * One connection that sends one request at a time. It reads only the status of an answer and where it ends,
 * so that it costs little compared with the server.
 */
export class RawConnection {
  readonly #socket: Socket;
  #answered: ((status: number, error?: Error) => void) | undefined;
  /** The part of an answer so far, if its head is not complete or it ends with its last chunk. */
  #begun: Buffer | undefined;
  #status = 0;
  #missing = 0;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (bytes) => this.#receive(bytes));
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => this.#end(new Error(`${url} ended the connection`)));
  }

  /** Whether it can be used: the server closes what was idle for long. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** Sends a request. `answered` gets the status, or 0 and the reason for a missing answer. */
  send(request: Buffer, answered: (status: number, error?: Error) => void): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#answered = undefined;
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    if (this.#missing > 0) {
      this.#missing -= bytes.length;
      if (this.#missing <= 0) this.#done();
      return;
    }
    const all = this.#begun ? Buffer.concat([this.#begun, bytes]) : bytes;
    const end = all.indexOf(headEnd);
    if (end < 0) {
      this.#begun = all;
      return;
    }
    const head = all.toString('latin1', 0, end);
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length) this.#missing = end + 4 + Number(length[1]) - all.length;
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#begun = all;
      if (all.subarray(-lastChunk.length).equals(lastChunk)) this.#done();
      return;
    }
    if (this.#missing <= 0) this.#done();
    else this.#begun = undefined;
  }

  #done(): void {
    this.#begun = undefined;
    this.#missing = 0;
    this.#end();
  }

  #end(error?: Error): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(error ? 0 : this.#status, error);
  }
}

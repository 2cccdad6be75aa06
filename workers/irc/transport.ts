import { EventEmitter } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Transport } from 'irc-framework';
import { clock } from '../../streams/core/clock.js';

/** The address of a server; `ca` adds a certificate authority for ircs://. */
export interface ServerAddress {
  host: string;
  port: number;
  tls: boolean;
  ca?: string | undefined;
  /** Makes the connection; TCP by default. */
  dial?: Dial | undefined;
}

/** Makes a connection, as `net.connect` does. */
export type Dial = (to: { host: string; port: number; noDelay: true }) => Socket;

/** Reads irc://host:port or ircs://host:port. Throws a TypeError for anything else. */
export function serverAddress(url: string, ca?: string): ServerAddress {
  const { protocol, hostname, port } = new URL(url);
  if ((protocol !== 'irc:' && protocol !== 'ircs:') || hostname === '')
    throw new TypeError('not an irc:// URL');
  const tls = protocol === 'ircs:';
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (tls ? 6697 : 6667)), tls, ca };
}

/**
 * The owner of a wire gets every line that is not an answer (true = taken, the library never sees it), then
 * the end.
 */
export interface WireOwner {
  take(line: string): boolean;
  closed(reason: string): void;
}

const maxUnfinishedLine = 1 << 20;
/** So many characters are sent at once: the server processes them while the next lines are made. */
const enoughToSend = 4_096;

/**
 * The socket of one IRC connection, as irc-framework's transport. Lines written in one turn of the event loop
 * leave in one write. Received bytes are split at line ends before they are decoded, so that a character in
 * two packets stays whole.
 */
export class Wire extends EventEmitter implements Transport {
  /** When bytes last came from the server, on the clock of `performance.now()`. */
  heardAt = 0;
  /** Gets every line first; true if it was an answer and nobody else needs it. */
  answers: { take(line: string): boolean } | undefined;
  readonly #address: ServerAddress;
  readonly #owner: WireOwner;
  #raw: Socket | undefined;
  #stream: Socket | undefined;
  #open = false;
  #ended = false;
  #reason: string | undefined;
  #unfinished: Buffer[] = [];
  #unfinishedBytes = 0;
  #out = '';
  #written: (() => void)[] = [];

  constructor(address: ServerAddress, owner: WireOwner) {
    super();
    this.#address = address;
    this.#owner = owner;
  }

  connect(): void {
    const { host, port, tls, ca, dial = connect } = this.#address;
    const raw = dial({ host, port, noDelay: true });
    const stream = tls
      ? connectTls({ socket: raw, ...(isIP(host) ? { host } : { servername: host }), ...(ca ? { ca } : {}) })
      : raw;
    this.#raw = raw;
    this.#stream = stream;
    if (tls) raw.on('error', (error) => this.#failed(error));
    stream.on('error', (error) => this.#failed(error));
    stream.on(tls ? 'secureConnect' : 'connect', () => {
      this.#open = true;
      this.heardAt = clock.elapsed();
      this.emit('open');
    });
    stream.on('data', (chunk: Buffer) => this.#read(chunk));
    stream.on('close', () => this.#close());
  }

  isConnected(): boolean {
    return this.#open && !this.#ended;
  }

  writeLine(line: string, written?: () => void): void {
    if (!this.isConnected()) {
      if (written) process.nextTick(written);
      return;
    }
    if (this.#out === '') clock.setImmediate(this.#flush);
    this.#out += `${line}\r\n`;
    if (written) this.#written.push(written);
    if (this.#out.length >= enoughToSend) this.#flush();
  }

  /** Ends the connection after what is written; with `force`, at once. */
  close(force = false): void {
    if (force || !this.#open) this.destroy('closed');
    else this.#stream?.end();
  }

  disposeSocket(): void {
    this.destroy('closed');
  }

  /** Always UTF-8; the library calls this at every connect. */
  setEncoding(): boolean {
    return true;
  }

  /** Ends the connection with a reset, so that the kernel stops delivering what it still holds. */
  destroy(reason: string): void {
    if (this.#ended) return;
    this.#reason ??= reason;
    // A TLS stream cannot be reset, only the socket below it. And a socket that is shutting down must not be
    // reset. Node then thinks that it is closed while it is not, keeps it, and never exits (seen with 20.20).
    if (this.#open && !this.#raw?.writableEnded && !this.#stream?.writableEnded) this.#raw?.resetAndDestroy();
    else this.#raw?.destroy();
    this.#stream?.destroy();
    this.#close();
  }

  #flush = (): void => {
    const out = this.#out;
    if (out === '') return; // it has left already
    const written = this.#written;
    this.#out = '';
    if (written.length > 0) this.#written = [];
    if (this.isConnected()) this.#stream?.write(out);
    for (const call of written) call();
  };

  #read(chunk: Buffer): void {
    this.heardAt = clock.elapsed();
    const end = chunk.lastIndexOf(10);
    if (end === -1) {
      this.#unfinished.push(chunk);
      this.#unfinishedBytes += chunk.length;
      if (this.#unfinishedBytes > maxUnfinishedLine) this.destroy('a line without end');
      return;
    }
    const complete = chunk.subarray(0, end);
    const text = (
      this.#unfinishedBytes === 0 ? complete : Buffer.concat([...this.#unfinished, complete])
    ).toString();
    this.#unfinishedBytes = chunk.length - end - 1;
    this.#unfinished = this.#unfinishedBytes === 0 ? [] : [chunk.subarray(end + 1)];
    try {
      this.#split(text);
    } catch (error) {
      this.destroy(`a line could not be handled: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #split(text: string): void {
    for (let from = 0; from < text.length && !this.#ended; ) {
      let next = text.indexOf('\n', from);
      if (next === -1) next = text.length;
      const end = text.charCodeAt(next - 1) === 13 ? next - 1 : next;
      if (end > from) {
        const line = text.slice(from, end);
        if (!this.answers?.take(line) && !this.#owner.take(line)) this.emit('line', line);
      }
      from = next + 1;
    }
  }

  #failed(error: Error): void {
    this.#reason ??= error.message;
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unfinished = [];
    this.#out = '';
    const reason = this.#reason ?? 'the server closed the connection';
    this.#owner.closed(reason);
    this.emit('close', reason);
  }
}

import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import pTimeout from 'p-timeout';
import { serverAddress } from '../../../workers/irc/transport.js';

/** A line from the server. */
export interface IrcLine {
  /** Nick or server that it is from; empty if the line does not say. */
  from: string;
  /** A command or numeric. */
  command: string;
  parameters: string[];
}

/** The texts for what went wrong. */
interface Problems {
  lost(error: Error): Error;
  silent(what: string, ms: number): Error;
}

/** A plain connection to an IRC server, to look on from outside. The service itself does not use it. */
export class IrcConnection {
  readonly #socket: Socket;
  readonly #problems: Problems;
  /** `undefined` says that the connection is lost. */
  readonly #listeners = new Set<(line: IrcLine | undefined) => void>();
  #rest = '';
  #lost: Error | undefined;

  /**
   * Connects to `irc://host:port` or `ircs://host:port`. `ca` is a certificate authority to trust besides the
   * usual ones.
   */
  constructor(url: string, problems: Problems, ca?: string) {
    const { host, port, tls } = serverAddress(url);
    const to = { host, port, ...(ca ? { ca } : {}) };
    this.#socket = tls ? connectTls({ ...to, ...(isIP(host) ? {} : { servername: host }) }) : connect(to);
    this.#problems = problems;
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error) => this.#lose(error));
    this.#socket.on('close', () => this.#lose(new Error('the server closed the connection')));
  }

  /** The last day of the server's certificate; `undefined` without TLS. */
  get certificateEnds(): Date | undefined {
    const ends = (this.#socket as Partial<TLSSocket>).getPeerCertificate?.().valid_to;
    return ends === undefined ? undefined : new Date(ends);
  }

  send(...lines: string[]): void {
    this.#socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  /** Calls `hear` with each line from now on. */
  listen(hear: (line: IrcLine) => void): void {
    this.#listeners.add((line) => line && hear(line));
  }

  /**
   * Resolves with the first value that `take` makes from a line from now on. Rejects if no value comes within
   * `ms`.
   */
  async until<T>(what: string, ms: number, take: (line: IrcLine) => T | undefined): Promise<T> {
    let listener: (line: IrcLine | undefined) => void = () => {};
    const taken = new Promise<T>((resolve, reject) => {
      listener = (line) => {
        try {
          if (!line) throw this.#problems.lost(this.#lost!);
          const value = take(line);
          if (value === undefined) return;
          resolve(value);
        } catch (error) {
          reject(error);
        }
        this.#listeners.delete(listener); // more lines may have come with this one
      };
    });
    this.#listeners.add(listener);
    if (this.#lost) listener(undefined);
    try {
      return await pTimeout(taken, { milliseconds: ms, message: this.#problems.silent(what, ms) });
    } finally {
      this.#listeners.delete(listener);
    }
  }

  close(): void {
    if (this.#socket.writable) this.#socket.end('QUIT\r\n');
    setTimeout(() => this.#socket.destroy(), 200).unref();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop()!;
    for (const raw of lines) {
      const [, from = '', command = '', rest = ''] =
        /^(?:@[^ ]+ )?(?::([^ !]+)[^ ]* )?([^ ]+)(.*)$/s.exec(raw) ?? [];
      const [middle = '', ...trailing] = rest.split(' :');
      const parameters = middle.split(' ').filter((word) => word !== '');
      if (trailing.length > 0) parameters.push(trailing.join(' :'));
      if (command === 'PING') this.send(`PONG :${parameters.at(-1) ?? ''}`);
      for (const listener of [...this.#listeners]) listener({ from, command, parameters });
    }
  }

  #lose(error: Error): void {
    if (this.#lost) return;
    this.#lost = error;
    for (const listener of [...this.#listeners]) listener(undefined);
  }
}

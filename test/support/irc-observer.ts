import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { hangMs } from './eventually.js';

/** One PRIVMSG or NOTICE as this observer's server sent it. */
export interface SeenLine {
  /** Lower case; a nick when the line was sent to the observer itself. */
  channel: string;
  nick: string;
  command: 'PRIVMSG' | 'NOTICE';
  text: string;
  tags: Record<string, string>;
  /** When it arrived here. */
  at: Date;
  /** Bytes on the wire without tags, CR LF included: what IRC limits to 512. */
  bytes: number;
  /** Whether these bytes were UTF-8. */
  validUtf8: boolean;
}

export interface ObserveOptions {
  nick: string;
  channels?: readonly string[];
  password?: string;
  /** The address of this machine that it comes from. */
  host?: string;
  /** false: an old client that knows no tags, as many readers are. */
  tags?: boolean;
  /** Comes back by itself when the connection is lost, and joins again (default). */
  reconnect?: boolean;
}

/**
 * An independent witness: a client on a bare socket that shares no code with the product, joins channels and
 * keeps all it sees. Lines that a channel's history replays are kept apart, in `replayed`.
 */
export class Observer {
  readonly lines: SeenLine[] = [];
  readonly replayed: SeenLine[] = [];
  /** Every line from the server, as text. */
  readonly raw: string[] = [];
  /** How often it has registered. */
  connects = 0;
  connected = false;
  #socket: Socket | undefined;
  #rest = Buffer.alloc(0);
  #stopped = false;
  #histories = new Set<string>();
  #checks = new Set<() => void>();
  readonly #channels = new Set<string>();

  constructor(
    readonly port: number,
    private readonly options: ObserveOptions,
  ) {
    for (const channel of options.channels ?? []) this.#channels.add(channel.toLowerCase());
    this.#connect();
  }

  get nick(): string {
    return this.options.nick;
  }

  /** The texts seen in one channel, in order. */
  texts(channel: string): string[] {
    return this.lines.filter((line) => line.channel === channel.toLowerCase()).map((line) => line.text);
  }

  /** The first line that satisfies. */
  async waitFor(predicate: (line: SeenLine) => boolean, ms = hangMs): Promise<SeenLine> {
    let found: SeenLine | undefined;
    let from = 0;
    await this.waitUntil(
      () => {
        for (; !found && from < this.lines.length; from++) {
          if (predicate(this.lines[from]!)) found = this.lines[from];
        }
        return found !== undefined;
      },
      `a line for ${predicate}`,
      ms,
    );
    return found!;
  }

  /** Waits until a condition on what has been seen holds; it is looked at after each received packet. */
  async waitUntil(condition: () => boolean, what = String(condition), ms = hangMs): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#checks.delete(check);
        reject(
          new Error(`${this.nick} waited ${ms} ms for ${what}; last: ${this.raw.slice(-3).join(' | ')}`),
        );
      }, ms);
      this.#checks.add(check);
      check();
    });
  }

  /** Sends raw lines; the witness is also a hand for tests that need another user. */
  send(...lines: string[]): void {
    this.#socket?.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  /** Sends lines and waits until the server has worked through them; the raw lines that came back meanwhile. */
  async ask(...lines: string[]): Promise<string[]> {
    const from = this.raw.length;
    const token = `ask${from}-${Math.random().toString(36).slice(2)}`;
    this.send(...lines, `PING :${token}`);
    let end = -1;
    await this.waitUntil(
      () => {
        end = this.raw.findIndex((line, index) => index >= from && line.endsWith(token));
        return end >= 0;
      },
      `an answer to ${lines.join(', ')}`,
    );
    return this.raw.slice(from, end);
  }

  /** Joins more channels, now and at every reconnect. */
  async join(...channels: string[]): Promise<void> {
    for (const channel of channels) this.#channels.add(channel.toLowerCase());
    const refused = (await this.ask(...joinLines(channels))).find((line) => / (?:40[35]|47\d) /.test(line));
    if (refused) throw new Error(refused);
  }

  /** Leaves the network for good. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const socket = this.#socket;
    if (!socket || socket.destroyed) return;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.end('QUIT\r\n');
    await Promise.race([closed, delay(500, undefined, { ref: false })]);
    socket.destroy();
  }

  #connect(): void {
    const { host: localAddress } = this.options;
    const socket = connect({
      host: '127.0.0.1',
      port: this.port,
      noDelay: true,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    this.#socket = socket;
    this.#rest = Buffer.alloc(0);
    this.#histories.clear();
    socket.on('error', () => undefined);
    socket.on('connect', () => {
      const { nick, password, tags = true } = this.options;
      if (tags) this.send('CAP LS 302');
      if (password) this.send(`PASS ${password}`);
      this.send(`NICK ${nick}`, `USER ${nick.slice(0, 10)} 0 * :observer`);
      // One request each: a server that lacks one must not refuse the others.
      if (tags) {
        this.send(
          ...['message-tags', 'server-time', 'batch', 'account-tag'].map((name) => `CAP REQ :${name}`),
        );
        this.send('CAP END');
      }
    });
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('close', () => {
      this.connected = false;
      if (this.#stopped || this.options.reconnect === false) return;
      setTimeout(() => !this.#stopped && this.#connect(), 50).unref();
    });
  }

  #read(chunk: Buffer): void {
    const data = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = data.indexOf(10, from); end >= 0; end = data.indexOf(10, from)) {
      const line = data.subarray(from, end > from && data[end - 1] === 13 ? end - 1 : end);
      from = end + 1;
      if (line.length > 0) this.#line(line);
    }
    this.#rest = data.subarray(from);
    for (const check of [...this.#checks]) check();
  }

  #line(bytes: Buffer): void {
    const raw = bytes.toString();
    this.raw.push(raw);
    const match = /^(?:@(\S+) +)?(?::(\S+) +)?(\S+) *(.*)$/s.exec(raw);
    if (!match) return;
    const [, tagText = '', prefix = '', command = '', rest = ''] = match;
    const params = paramsOf(rest);
    const tags = tagsOf(tagText);
    if (command === 'PING') this.send(`PONG :${params[0]}`);
    else if (command === '001') this.#registered();
    else if (command === '433') setTimeout(() => this.send(`NICK ${this.nick}`), 100).unref();
    else if (command === 'BATCH') this.#batch(params);
    if (command !== 'PRIVMSG' && command !== 'NOTICE') return;
    const nick = prefix.split('!', 1)[0]!;
    if (nick === prefix) return; // the server's own notices
    const untagged = tagText === '' ? bytes : bytes.subarray(bytes.indexOf(32) + 1);
    const seen: SeenLine = {
      channel: (params[0] ?? '').toLowerCase(),
      nick,
      command,
      text: params[1] ?? '',
      tags,
      at: new Date(),
      bytes: untagged.length + 2,
      validUtf8: Buffer.from(untagged.toString()).equals(untagged),
    };
    (this.#histories.has(tags.batch ?? '') ? this.replayed : this.lines).push(seen);
  }

  #registered(): void {
    this.send(...joinLines([...this.#channels]));
    // Counted only when it is in its channels, so that nothing sent after `connected` can be missed.
    const round = this.connects + 1;
    void this.ask().then(
      () => {
        this.connects = round;
        this.connected = true;
        for (const check of [...this.#checks]) check();
      },
      () => undefined,
    );
  }

  #batch([reference = '', type]: string[]): void {
    if (reference.startsWith('+') && type === 'chathistory') this.#histories.add(reference.slice(1));
    if (reference.startsWith('-')) this.#histories.delete(reference.slice(1));
  }
}

/** Connects an observer and waits until it is in its channels. */
export async function observe(port: number, options: ObserveOptions): Promise<Observer> {
  const observer = new Observer(port, options);
  try {
    await observer.waitUntil(() => observer.connected, 'its channels');
  } catch (error) {
    await observer.stop();
    throw error;
  }
  return observer;
}

function joinLines(channels: readonly string[]): string[] {
  const lines: string[] = [];
  for (let from = 0; from < channels.length; from += 10) {
    lines.push(`JOIN ${channels.slice(from, from + 10).join(',')}`);
  }
  return lines;
}

function paramsOf(rest: string): string[] {
  const params: string[] = [];
  for (let text = rest; text !== ''; ) {
    if (text.startsWith(':')) return [...params, text.slice(1)];
    const [word = ''] = text.split(' ', 1);
    params.push(word);
    text = text.slice(word.length).replace(/^ +/, '');
  }
  return params;
}

function tagsOf(text: string): Record<string, string> {
  const tags: Record<string, string> = {};
  const unescaped: Record<string, string> = { ':': ';', s: ' ', r: '\r', n: '\n' };
  for (const pair of text.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key !== '') tags[key] = value.join('=').replace(/\\(.?)/g, (_, c: string) => unescaped[c] ?? c);
  }
  return tags;
}

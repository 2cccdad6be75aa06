import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Failed } from '../core/failure.js';

/** A line as somebody in the channel sees it. */
export interface ViewedLine {
  at: Date;
  channel: string;
  nick: string;
  text: string;
}

const registerMs = 10_000;
const answerMs = 5_000;
/** Answers to a JOIN that was refused. */
const refusals = new Set(['403', '405', '437', '471', '473', '474', '475', '476', '477']);

/** A plain IRC client that only looks on, and shares no code with the service's own connection. */
export class IrcViewer {
  readonly lines: ViewedLine[] = [];
  readonly #socket: Socket;
  readonly #onLine: (line: ViewedLine) => void;
  readonly #channels = new Map<string, 'entered' | 'closed'>();
  readonly #listeners = new Set<(command: string, parameters: string[], from: string) => void>();
  #nick: string;
  #rest = '';
  #lost: string | undefined;

  private constructor(socket: Socket, nick: string, onLine: (line: ViewedLine) => void) {
    this.#socket = socket;
    this.#nick = nick;
    this.#onLine = onLine;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error) => this.#lose(error.message));
    socket.on('close', () => this.#lose('the server closed the connection'));
  }

  /** Connects to `irc://host:port` or `ircs://host:port` and registers. `onLine` gets each line of a joined channel. */
  static async connect(
    address: string,
    nick: string,
    onLine: (line: ViewedLine) => void,
  ): Promise<IrcViewer> {
    const { protocol, hostname, port } = new URL(address);
    const host = hostname.replace(/^\[|\]$/g, '');
    const secure = protocol === 'ircs:';
    const to = { host, port: Number(port) || (secure ? 6697 : 6667) };
    const socket = secure ? connectTls({ ...to, servername: host }) : connect(to);
    const viewer = new IrcViewer(socket, nick, onLine);
    const registered = viewer.#wait(`a welcome from ${address}`, registerMs, (command) => command === '001');
    viewer.#send(`NICK ${nick}`, `USER ${nick} 0 * :looks on`);
    try {
      await registered;
    } catch (error) {
      viewer.close();
      throw error;
    }
    return viewer;
  }

  /** Enters the channels it is not in yet; answers those of the given ones that are closed to guests. */
  async enter(channels: string[]): Promise<string[]> {
    const names = channels.map((name) => name.toLowerCase());
    const open = new Set(names.filter((name) => !this.#channels.has(name)));
    if (open.size > 0) {
      const answered = this.#wait(
        `entering ${[...open].join(', ')}`,
        answerMs,
        (command, [, channel = '']) => {
          const name = channel.toLowerCase();
          // 366 ends the list of names, which comes when one is in
          const outcome = command === '366' ? 'entered' : refusals.has(command) ? 'closed' : undefined;
          if (outcome && open.delete(name)) this.#channels.set(name, outcome);
          return open.size === 0;
        },
      );
      this.#send(`JOIN ${[...open].join(',')}`);
      await answered;
    }
    return names.filter((name) => this.#channels.get(name) === 'closed');
  }

  /** Names of the channels that the server lists to guests. */
  async list(): Promise<string[]> {
    const names: string[] = [];
    const answered = this.#wait('the list of channels', answerMs, (command, [, name = '']) => {
      if (command === '322') names.push(name);
      return command === '323';
    });
    this.#send('LIST');
    await answered;
    return names;
  }

  /** Waits until a channel has shown a text, counted from line number `from` on. Rejects after `ms`. */
  async sees(channel: string, text: string, ms: number, from = 0): Promise<void> {
    const shown = () =>
      this.lines.slice(from).some((line) => line.channel === channel.toLowerCase() && line.text === text);
    if (!shown()) await this.#wait(`"${text}" in ${channel}`, ms, shown);
  }

  /** Waits until somebody has brought it into a channel, from now on. Rejects after `ms`. */
  async comesInto(channel: string, ms: number): Promise<void> {
    await this.#wait(`being brought into ${channel}`, ms, (command, [, name = '']) => {
      // as above: it ends the list of names
      const isIn = command === '366' && name.toLowerCase() === channel.toLowerCase();
      if (isIn) this.#channels.set(name.toLowerCase(), 'entered');
      return isIn;
    });
  }

  /** Says something to a nick in private and answers with the notice that comes back. */
  async ask(nick: string, text: string): Promise<string> {
    let answer = '';
    const answered = this.#wait(`an answer of ${nick}`, answerMs, (command, [, notice = ''], from) => {
      if (command !== 'NOTICE' || from.toLowerCase() !== nick.toLowerCase()) return false;
      answer = notice;
      return true;
    });
    this.#send(`PRIVMSG ${nick} :${text}`);
    await answered;
    return answer;
  }

  /** Whether a nick is on the network. */
  async isThere(nick: string): Promise<boolean> {
    let found = '';
    const answered = this.#wait(`whether ${nick} is there`, answerMs, (command, [, nicks = '']) => {
      if (command !== '303') return false;
      found = nicks;
      return true;
    });
    this.#send(`ISON ${nick}`);
    await answered;
    return found.trim().toLowerCase() === nick.toLowerCase();
  }

  /** Says something in a channel. */
  say(channel: string, text: string): void {
    this.#send(`PRIVMSG ${channel} :${text}`);
  }

  /** The nick that the server knows it by. */
  get nick(): string {
    return this.#nick;
  }

  close(): void {
    if (this.#socket.writable) this.#socket.end('QUIT\r\n');
    setTimeout(() => this.#socket.destroy(), 200);
  }

  #wait(
    what: string,
    ms: number,
    done: (command: string, parameters: string[], from: string) => boolean,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        if (error) reject(error);
        else resolve();
      };
      const listener = (command: string, parameters: string[], from: string) => {
        if (command === 'lost') settle(lost(parameters[0]!));
        else if (done(command, parameters, from)) settle();
      };
      const timer = setTimeout(() => settle(silent(ms, what)), ms);
      this.#listeners.add(listener);
      if (this.#lost !== undefined) listener('lost', [this.#lost], '');
    });
  }

  #send(...lines: string[]): void {
    this.#socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(line);
  }

  #take(raw: string): void {
    const [, nick = '', command = '', rest = ''] = /^(?::([^ !]+)[^ ]* )?([^ ]+)(.*)$/s.exec(raw) ?? [];
    const [middle = '', ...trailing] = rest.split(' :');
    const parameters = middle.split(' ').filter((word) => word !== '');
    if (trailing.length > 0) parameters.push(trailing.join(' :'));
    if (command === 'PING') this.#send(`PONG :${parameters.at(-1) ?? ''}`);
    if (command === '433') {
      this.#nick = `${this.#nick}_`;
      this.#send(`NICK ${this.#nick}`);
    }
    if (command === 'PRIVMSG' && parameters[0]?.startsWith('#')) {
      const line = { at: new Date(), channel: parameters[0].toLowerCase(), nick, text: parameters[1] ?? '' };
      this.lines.push(line);
      this.#onLine(line);
    }
    for (const listener of [...this.#listeners]) listener(command, parameters, nick);
  }

  #lose(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    for (const listener of [...this.#listeners]) listener('lost', [reason], '');
  }
}

const hint = 'Do the service and its IRC server still run? relay doctor tells.';

function lost(reason: string): Failed {
  return new Failed(`the IRC viewer lost its connection: ${reason}`, 'irc_lost', hint);
}

function silent(ms: number, what: string): Failed {
  return new Failed(`the IRC viewer waited ${ms / 1_000} s in vain for ${what}`, 'irc_silent', hint);
}

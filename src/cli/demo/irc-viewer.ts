import { Failed } from '../core/failure.js';
import { IrcConnection, type IrcLine } from '../irc/connection.js';

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
const hint = 'Do the service and its IRC server still run? relay doctor tells.';
const problems = {
  lost: ({ message }: Error) =>
    new Failed(`the IRC viewer lost its connection: ${message}`, 'irc_lost', hint),
  silent: (what: string, ms: number) =>
    new Failed(`the IRC viewer waited ${ms / 1_000} s in vain for ${what}`, 'irc_silent', hint),
};

/** Somebody on IRC who only looks on. */
export class IrcViewer {
  readonly lines: ViewedLine[] = [];
  readonly #connection: IrcConnection;
  readonly #channels = new Map<string, 'entered' | 'closed'>();
  #nick: string;

  private constructor(connection: IrcConnection, nick: string, onLine: (line: ViewedLine) => void) {
    this.#connection = connection;
    this.#nick = nick;
    connection.listen(({ command, parameters: [place, text = ''], from }) => {
      if (command === '433') {
        this.#nick = `${this.#nick}_`;
        connection.send(`NICK ${this.#nick}`);
      }
      if (command === 'KICK' && place && text.toLowerCase() === this.#nick.toLowerCase())
        this.#channels.set(place.toLowerCase(), 'closed');
      if (command !== 'PRIVMSG' || !place?.startsWith('#')) return;
      const line = { at: new Date(), channel: place.toLowerCase(), nick: from, text };
      this.lines.push(line);
      onLine(line);
    });
  }

  /** Connects to `irc://host:port` or `ircs://host:port` and registers. `onLine` gets each line of a joined channel. */
  static async connect(
    address: string,
    nick: string,
    onLine: (line: ViewedLine) => void,
  ): Promise<IrcViewer> {
    const connection = new IrcConnection(address, problems);
    const viewer = new IrcViewer(connection, nick, onLine);
    const registered = viewer.#wait(
      `a welcome from ${address}`,
      registerMs,
      ({ command }) => command === '001',
    );
    connection.send(`NICK ${nick}`, `USER ${nick} 0 * :looks on`);
    await registered.catch((error) => {
      viewer.close();
      throw error;
    });
    return viewer;
  }

  /** Enters the channels it is not in yet; answers those of the given ones that are closed to guests. */
  async enter(channels: string[]): Promise<string[]> {
    const names = channels.map((name) => name.toLowerCase());
    const open = new Set(names.filter((name) => !this.#channels.has(name)));
    if (open.size > 0) {
      const list = [...open];
      await this.#ask(`JOIN ${list.join(',')}`, `entering ${list.join(', ')}`, (line) => {
        const name = line.parameters[1]?.toLowerCase() ?? '';
        // 366 ends the list of names, which comes when one is in
        const outcome =
          line.command === '366' ? 'entered' : refusals.has(line.command) ? 'closed' : undefined;
        if (outcome && open.delete(name)) this.#channels.set(name, outcome);
        return open.size === 0 || undefined;
      });
    }
    return names.filter((name) => this.#channels.get(name) === 'closed');
  }

  /** Names of the channels that the server lists to guests. */
  async list(): Promise<string[]> {
    const names: string[] = [];
    return await this.#ask('LIST', 'the list of channels', ({ command, parameters: [, name = ''] }) => {
      if (command === '322') names.push(name);
      return command === '323' ? names : undefined;
    });
  }

  /**
   * Waits until a channel has shown a text, counted from line number `from` on; `false` when it is closed to guests, or
   * is closed meanwhile. Rejects after `ms`.
   */
  async sees(channel: string, text: string, ms: number, from = 0): Promise<boolean> {
    const name = channel.toLowerCase();
    const isShown = () => this.lines.slice(from).some((line) => line.channel === name && line.text === text);
    const isClosed = () => this.#channels.get(name) === 'closed';
    const isOver = () => isShown() || isClosed();
    if (!isOver()) await this.#wait(`"${text}" in ${channel}`, ms, isOver);
    return isShown();
  }

  /** Waits until somebody has brought it into a channel, from now on. Rejects after `ms`. */
  async comesInto(channel: string, ms: number): Promise<void> {
    await this.#wait(`being brought into ${channel}`, ms, ({ command, parameters: [, name = ''] }) => {
      // as above: it ends the list of names
      const isIn = command === '366' && name.toLowerCase() === channel.toLowerCase();
      if (isIn) this.#channels.set(name.toLowerCase(), 'entered');
      return isIn;
    });
  }

  /** Says something to a nick in private and answers with the notice that comes back. */
  async ask(nick: string, text: string): Promise<string> {
    const isOf = (from: string) => from.toLowerCase() === nick.toLowerCase();
    return await this.#ask(
      `PRIVMSG ${nick} :${text}`,
      `an answer of ${nick}`,
      ({ command, parameters: [, notice = ''], from }) =>
        command === 'NOTICE' && isOf(from) ? notice : undefined,
    );
  }

  /** Whether a nick is on the network. */
  async isThere(nick: string): Promise<boolean> {
    const found = await this.#ask(
      `ISON ${nick}`,
      `whether ${nick} is there`,
      ({ command, parameters: [, nicks = ''] }) => (command === '303' ? nicks : undefined),
    );
    return found.trim().toLowerCase() === nick.toLowerCase();
  }

  /** Says something in a channel. */
  say(channel: string, text: string): void {
    this.#connection.send(`PRIVMSG ${channel} :${text}`);
  }

  /** The nick that the server knows it by. */
  get nick(): string {
    return this.#nick;
  }

  close(): void {
    this.#connection.close();
  }

  async #ask<T>(line: string, what: string, take: (line: IrcLine) => T | undefined): Promise<T> {
    const answered = this.#connection.until(what, answerMs, take);
    this.#connection.send(line);
    return await answered;
  }

  async #wait(what: string, ms: number, done: (line: IrcLine) => boolean): Promise<void> {
    await this.#connection.until(what, ms, (line) => done(line) || undefined);
  }
}

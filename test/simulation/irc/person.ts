import type { Client } from './client.js';
import { parsed, type Server } from './server.js';

/** A line that a person has been shown. */
export interface Heard {
  /** nick!user@host, or a server. */
  from: string;
  command: string;
  parameters: string[];
  /** As it came. */
  raw: string;
}

/** How somebody comes to the network. */
export interface PersonOptions {
  password?: string;
  /** What they ask for; without any they are as an old client. */
  capabilities?: readonly string[] | undefined;
  /** Whether they only connect. */
  isBare?: boolean;
  /** Where they come from; from where everybody else does by default. */
  host?: string;
  /** Is called with each line that they are shown. */
  hears?: (heard: Heard) => void;
}

/** Somebody on the network who is no part of the product: says what a test has them say, and keeps what they are shown. */
export class Person {
  readonly heard: Heard[] = [];
  readonly client: Client;
  readonly #hears: ((heard: Heard) => void) | undefined;

  /** Connects, and is registered a moment later. */
  constructor(
    readonly server: Server,
    readonly nick: string,
    { password, capabilities, isBare = false, host, hears }: PersonOptions = {},
  ) {
    this.#hears = hears;
    this.client = server.accept({ write: (text) => this.#take(text), close: () => {} }, host);
    if (isBare) return;
    if (capabilities) this.send('CAP LS 302', `CAP REQ :${capabilities.join(' ')}`);
    if (password !== undefined) this.send(`PASS ${password}`);
    this.send(`NICK ${nick}`, `USER ${nick.slice(0, 10)} 0 * :${nick}`);
    if (capabilities) this.send('CAP END');
  }

  get isThere(): boolean {
    return this.client.user !== undefined && !this.client.closed;
  }

  send(...lines: string[]): void {
    if (!this.client.closed) this.client.lines(lines);
  }

  join(channel: string): void {
    this.send(`JOIN ${channel}`);
  }

  say(channel: string, text: string): void {
    this.send(`PRIVMSG ${channel} :${text}`);
  }

  /** Has shown the nick service that they are who they say, or takes that back. */
  identify(account: string | undefined): void {
    const { user } = this.client;
    if (user) this.server.happen({ is: 'account', user: user.id, account });
    this.server.flush();
  }

  quit(reason = 'Leaving'): void {
    this.send(`QUIT :${reason}`);
  }

  /** The texts that they were shown in a channel, by others. */
  texts(channel: string): string[] {
    return this.heard.flatMap(({ command, parameters }) =>
      command === 'PRIVMSG' && parameters[0] === channel ? [parameters[1]!] : [],
    );
  }

  #take(text: string): void {
    for (const raw of text.split('\r\n')) {
      if (raw === '') continue;
      const untagged = raw.startsWith('@') ? raw.slice(raw.indexOf(' ') + 1) : raw;
      const from = untagged.startsWith(':') ? untagged.slice(1, untagged.indexOf(' ')) : '';
      const { command, parameters } = parsed(from === '' ? untagged : untagged.slice(from.length + 2));
      if (command === 'PING') this.send(`PONG :${parameters[0]}`);
      else {
        const heard = { from, command, parameters, raw };
        this.heard.push(heard);
        this.#hears?.(heard);
      }
    }
  }
}

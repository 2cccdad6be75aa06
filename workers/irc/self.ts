import { casefold } from '../../streams/irc-grammar.js';
import type { IrcLine } from './line.js';

const mostNames = 20;

/** What the server has told us about ourselves: our nick, our mask as others see it, the channels we are in. */
export class Self {
  nick: string;
  /** Whether the server has given us operator state and not taken it back. */
  oper = false;
  /** As the server spells them, by casefolded name. */
  readonly #channels = new Map<string, string>();
  #host: string | undefined;
  readonly #widestHost: string;
  readonly #names: Set<string>;

  /**
   * `userLength` and `hostLength` are the longest the server gives out; they count until our mask is seen. `names` are the
   * nicks (casefolded) that we have had in this process. Ours is added.
   */
  constructor(nick: string, userLength: number, hostLength: number, names = new Set<string>()) {
    this.nick = nick;
    this.#widestHost = `${'u'.repeat(userLength)}@${'h'.repeat(hostLength)}`;
    this.#names = names;
    this.#remember();
  }

  /** nick!user@host as it is before our lines; at its longest while the server has not shown it. */
  get mask(): string {
    return `${this.nick}!${this.#host ?? this.#widestHost}`;
  }

  /** The channels we are in now, as the server spells them. */
  get channels(): string[] {
    return [...this.#channels.values()];
  }

  /** How many channels we are in now. */
  get rooms(): number {
    return this.#channels.size;
  }

  /** Whether we are in this channel now. */
  isIn(channel: string): boolean {
    return this.#channels.has(casefold(channel));
  }

  isMe(nick: string): boolean {
    return nick === this.nick || casefold(nick) === casefold(this.nick);
  }

  /**
   * Whether we have, or had, this nick. The server gives us another one when ours is taken, or when two parts of the
   * network have it as they join. What we say then has that nick in the history.
   */
  wasMe(nick: string): boolean {
    return this.#names.has(casefold(nick));
  }

  #remember(): void {
    const name = casefold(this.nick);
    this.#names.delete(name);
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > mostNames) this.#names.delete(oldest!);
  }

  /** Takes note of one line from the server, whether an answer or not. */
  see(line: IrcLine): void {
    switch (line.command) {
      case 'JOIN':
        if (!this.isMe(line.nick)) return;
        this.#channels.set(casefold(line.params[0] ?? ''), line.params[0] ?? '');
        if (line.ident !== '') this.#host = `${line.ident}@${line.hostname}`;
        return;
      case 'PART':
        if (this.isMe(line.nick)) this.#channels.delete(casefold(line.params[0] ?? ''));
        return;
      case 'KICK':
        if (this.isMe(line.params[1] ?? '')) this.#channels.delete(casefold(line.params[0] ?? ''));
        return;
      case 'NICK':
        if (!this.isMe(line.nick)) return;
        this.nick = line.params[0] ?? this.nick;
        this.#remember();
        return;
      case '381':
        this.oper = true;
        return;
      case 'MODE':
        if (this.oper && this.isMe(line.params[0] ?? '')) this.oper = !/-[^+]*o/.test(line.params[1] ?? '');
        return;
      case '396': // our shown host has changed, and not every server says to what
        this.#host = undefined;
        return;
    }
  }
}

import { casefold, isPrivate } from '../../streams/irc-grammar.js';
import { isLine, type LineSighting, type Sighting } from '../../streams/network/index.js';
import { type IrcLine, type JoinSnapshot, type ModeNames, memberOf, replyTag } from '../irc/index.js';

/** A channel that we are in, as far as its lines tell: who is there, its topic and its modes. */
export class Room {
  readonly name: string;
  readonly #names: ModeNames;
  readonly #members = new Map<string, string>();
  /** What members say who were seen to go away, by casefolded nick. */
  readonly #away = new Map<string, string>();
  #topic: string;
  #modes: string;

  /** `modes` as in numeric 324: `+ntH 100:1d`. */
  constructor(name: string, { members, topic }: JoinSnapshot, modes: string, names: ModeNames) {
    this.name = name;
    this.#names = names;
    this.#topic = topic;
    this.#modes = changedModes('', modes, names);
    for (const member of members) {
      this.#members.set(casefold(memberOf(member, names).nick), member);
    }
  }

  /** Everything at once. `continues`: we were there since the last time. */
  snapshot(at: number, { continues = false } = {}): Sighting {
    return {
      is: 'snapshot',
      at,
      members: [...this.#members.values()],
      modes: this.#modes,
      topic: this.#topic,
      ...(continues ? { continues } : {}),
    };
  }

  /** Whether the public is kept out now. */
  get isPrivate(): boolean {
    return isPrivate(this.#modes);
  }

  has(nick: string): boolean {
    return this.#members.has(casefold(nick));
  }

  /** Nicks of those who are there, as they are written. */
  get nicks(): string[] {
    return [...this.#members.values()].map((member) => memberOf(member, this.#names).nick);
  }

  /** Takes note of a line about this channel, or about one of its members; `undefined` when it tells nothing. */
  see(line: IrcLine, at: number): Sighting | undefined {
    const [, second = ''] = line.params;
    const who = whoOf(line);
    switch (line.command) {
      case 'PRIVMSG':
      case 'NOTICE':
        return saidIn(lineOf(line, at), this.isPrivate);
      case 'JOIN':
        this.#members.set(casefold(line.nick), line.nick);
        return { is: 'join', at, ...who, ...accountOf(line.params[1]) };
      case 'PART':
        return this.#gone(line.nick) ? { is: 'part', at, ...who, reason: second } : undefined;
      case 'QUIT':
        return this.#gone(line.nick) ? { is: 'quit', at, ...who, reason: line.params[0] ?? '' } : undefined;
      case 'KICK':
        this.#gone(second);
        return { is: 'kick', at, ...who, kicked: second, reason: line.params[2] ?? '' };
      case 'NICK':
        return this.#renamed(line, at);
      case 'AWAY':
        return this.#turned(line, at);
      case 'TOPIC':
        this.#topic = second;
        return { is: 'topic', at, ...who, text: second };
      case 'MODE': {
        this.#modes = changedModes(this.#modes, second, this.#names);
        return { is: 'mode', at, ...who, change: line.params.slice(1).join(' '), modes: this.#modes };
      }
      default:
        return undefined;
    }
  }

  /** What a member says who was seen to go away. */
  awayOf(nick: string): string | undefined {
    return this.#away.get(casefold(nick));
  }

  /** A member says that it is away, or back; `undefined` for what it has said before. */
  #turned(line: IrcLine, at: number): Sighting | undefined {
    const key = casefold(line.nick);
    const message = line.params[0] || undefined;
    if (!this.#members.has(key) || this.#away.get(key) === message) return undefined;
    if (message === undefined) this.#away.delete(key);
    else this.#away.set(key, message);
    return { is: 'away', at, ...whoOf(line), ...(message === undefined ? {} : { message }) };
  }

  #gone(nick: string): boolean {
    this.#away.delete(casefold(nick));
    return this.#members.delete(casefold(nick));
  }

  #renamed(line: IrcLine, at: number): Sighting | undefined {
    const [to = ''] = line.params;
    const member = this.#members.get(casefold(line.nick));
    if (member === undefined) return undefined;
    const away = this.awayOf(line.nick);
    this.#gone(line.nick);
    if (away !== undefined) this.#away.set(casefold(to), away);
    this.#members.set(casefold(to), `${memberOf(member, this.#names).symbols}${to}`);
    return { is: 'nick', at, ...whoOf(line), to };
  }
}

/** A line of text, also one that a channel's history replays; what it says is kept as it was said. */
export function lineOf(line: IrcLine, at: number): LineSighting {
  const { msgid } = line.tags;
  const text = line.params.at(-1) ?? '';
  const action = /^\x01ACTION ?(.*?)\x01?$/s.exec(text);
  return {
    is: line.command === 'NOTICE' ? 'notice' : action ? 'action' : 'message',
    at,
    ...whoOf(line),
    text: action && line.command !== 'NOTICE' ? action[1]! : text,
    ...(msgid ? { msgid } : {}),
    ...answered(line),
    ...('bot' in line.tags || 'inspircd.org/bot' in line.tags ? { bot: true } : {}),
  };
}

/** Bytes of a msgid, at most: what is longer is no answer to a line. */
const longestMsgid = 200;

/** What a line answers. Its speaker says so, and may say anything. */
function answered({ tags }: IrcLine): { reply_to?: string } {
  const msgid = tags[replyTag] ?? tags['+reply'];
  return msgid && msgid.length <= longestMsgid && /^[!-~]+$/.test(msgid) ? { reply_to: msgid } : {};
}

/** A line as it is recorded: one that was said in private says so. */
export function saidIn<Seen extends Sighting>(seen: Seen, isPrivate: boolean): Seen {
  return isPrivate && isLine(seen) ? { ...seen, private: true } : seen;
}

/** Whether a channel's history keeps the line: CTCP other than an action it does not. */
export function isKept({ text }: LineSighting): boolean {
  return !text.startsWith('\x01');
}

function whoOf({ nick, ident, hostname, prefix, tags }: IrcLine): {
  nick: string;
  host?: string;
  account?: string;
} {
  return {
    nick: nick || prefix,
    ...(ident && hostname ? { host: `${ident}@${hostname}` } : {}),
    ...accountOf(tags.account),
  };
}

/** `*` is how the network says that somebody is identified with none. */
function accountOf(account: string | undefined): { account?: string } {
  return account && account !== '*' ? { account } : {};
}

/** The letters of a channel's own modes after a change, sorted; those of lists and of members are none of them. */
export function changedModes(modes: string, change: string, { channelModes, prefixes }: ModeNames): string {
  const letters = new Set(modes);
  let adding = true;
  for (const flag of change.split(' ', 1)[0]!) {
    if (flag === '+' || flag === '-') adding = flag === '+';
    else if (channelModes[0]?.includes(flag) || prefixes.some(({ mode }) => mode === flag)) continue;
    else if (adding) letters.add(flag);
    else letters.delete(flag);
  }
  return [...letters].sort().join('');
}

import { BlockList, isIPv6 } from 'node:net';
import type { Client } from './client.js';

/** A user as one server of the network knows them. */
export interface User {
  /** The same on every server, for as long as they are connected. */
  readonly id: string;
  nick: string;
  ident: string;
  host: string;
  real: string;
  account: string | undefined;
  modes: Set<string>;
  away: string | undefined;
  /** Since when they have this nick, and been connected, in milliseconds. */
  nickSince: number;
  readonly since: number;
  /** The server they are connected to. */
  readonly home: string;
  /** Their connection, where they are connected. */
  client: Client | undefined;
  readonly channels: Set<Channel>;
}

/** A line of text on its way. */
export interface Message {
  command: string;
  /** nick!user@host */
  from: string;
  text: string;
  msgid: string;
  account: string | undefined;
  /** Client tags as they were sent: `+svc/event=1`. */
  tags: readonly string[];
  isBot: boolean;
}

/** A line of text that has come to a server. */
export interface Arrived extends Message {
  /** When it came there, in milliseconds since 1970: nobody is told when it was said. */
  at: number;
}

/** A channel as one server of the network knows it. */
export class Channel {
  readonly members = new Map<User, Set<string>>();
  readonly modes = new Map<string, string | undefined>();
  bans: { mask: string; by: string; at: number }[] = [];
  /** Masks that no ban holds for. */
  excepts: { mask: string; by: string; at: number }[] = [];
  topic: { text: string; by: string; at: number } | undefined;
  history: Arrived[] = [];
  readonly invited = new Set<User>();
  /** When it was last changed, in milliseconds. */
  touchedAt = 0;

  constructor(
    readonly name: string,
    /** When it was made, in milliseconds: of two that meet the older one is right. */
    public since: number,
  ) {}

  /** Its settings as a client is shown them; the key only to members. */
  shownModes(member: boolean): string[] {
    const letters = [...this.modes.keys()].sort();
    const parameters = letters.flatMap((letter) => {
      const value = this.modes.get(letter);
      return value === undefined ? [] : [letter === 'k' && !member ? '<key>' : value];
    });
    return [`+${letters.join('')}`, ...parameters];
  }

  isHiddenFrom(user: User): boolean {
    return (this.modes.has('s') || this.modes.has('p')) && !this.members.has(user) && !user.modes.has('o');
  }

  /** Whether a ban is set against them; `mute`: one that only keeps them from speaking. */
  isBanned(user: User, mute: boolean): boolean {
    const isMeant = ({ mask }: { mask: string }) => {
      const isMute = mask.startsWith('m:');
      return isMute === mute && matches(isMute ? mask.slice(2) : mask, user);
    };
    return this.bans.some(isMeant) && !this.excepts.some(isMeant);
  }

  /** How many lines it keeps for who joins, and for how many milliseconds. */
  get kept(): { lines: number; ms: number } | undefined {
    const value = this.modes.get('H');
    return value === undefined ? undefined : keptOf(value);
  }
}

/** nick!user@host */
export const maskOf = ({ nick, ident, host }: User): string => `${nick}!${ident}@${host}`;

function matches(mask: string, user: User): boolean {
  if (mask.startsWith('R:')) return user.account?.toLowerCase() === mask.slice(2).toLowerCase();
  if (mask.startsWith('U:')) return user.account === undefined && matches(mask.slice(2), user);
  const [, address, bits] = /@([\da-f:]+)\/(\d+)$/i.exec(mask) ?? [];
  if (address !== undefined && bits !== undefined) return isInNetwork(user.host, address, Number(bits));
  const pattern = mask
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${pattern}$`, 'i').test(maskOf(user));
}

/** Whether a host is an address of an IPv6 network. */
function isInNetwork(host: string, network: string, bits: number): boolean {
  const list = new BlockList();
  list.addSubnet(network, bits, 'ipv6');
  return isIPv6(host) && list.check(host, 'ipv6');
}

const units: Record<string, number> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, y: 31_536_000 };

/** Reads `100:1d`; `undefined` when it is nothing of that kind. */
export function keptOf(value: string): { lines: number; ms: number } | undefined {
  const [, lines, time = ''] = /^(\d+):((?:\d+[smhdwy]?)+)$/.exec(value) ?? [];
  if (lines === undefined) return undefined;
  let seconds = 0;
  for (const [, count, unit = ''] of time.matchAll(/(\d+)([smhdwy]?)/g))
    seconds += Number(count) * units[unit]!;
  return { lines: Number(lines), ms: seconds * 1_000 };
}

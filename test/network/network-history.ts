import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  closedAfter,
  closedAt,
  type IrcFact,
  ircSubject,
  isLine,
  type Sighting,
} from '../../streams/network/index.js';

const dayMs = 24 * 3_600_000;
const nicks = ['Alice', 'bob', 'Carol[1]', 'dave', 'erin', 'frank'];
const spellings = ['#Lobby', '#bounties', '#task-1', '#Ünïcode|x', '#quiet'];

/** A made-up month and a half on a network, the same each time for the same seed: some channels are left and entered again. */
export function networkHistory(facts: number, seed = 1): Recorded<IrcFact>[] {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const start = Date.UTC(2026, 0, 1, 20);
  let lines = 1_000; // of facts that are gone
  const closed = new Map<string, boolean>();
  return Array.from({ length: facts }, (_, n) => {
    const channel = n < spellings.length ? spellings[n]! : pick(spellings);
    const at = start + Math.floor((n * 45 * dayMs) / facts);
    const seen = Array.from({ length: 1 + random(5) }, (_, k) => sighting(at - 5 + k));
    if (n < spellings.length) seen.unshift(snapshot(at - 5));
    const before = closed.get(channel) ?? false;
    const private_ = closedAt(observed(n + 1, at, channel, lines, seen), before);
    closed.set(
      channel,
      seen.reduce((was, one) => closedAfter(one, was), before),
    );
    const said = seen.map(
      (one, k): Sighting => (isLine(one) && private_[k] ? { ...one, private: true } : one),
    );
    const fact = observed(n + 1, at, channel, lines, said, { closed: closed.get(channel)! });
    lines += seen.filter(isLine).length;
    return fact;
  });

  function snapshot(at: number): Sighting {
    const members = nicks.filter(() => random(2) === 0).map((nick) => pick(['', '@', '+', '@+']) + nick);
    return {
      is: 'snapshot',
      at,
      members,
      modes: pick(['HPnt', 'int', 'nst', '', 'npt']),
      topic: pick(['', 'a "topic"']),
      ...(at % 2 === 0 ? { continues: true } : {}),
    };
  }

  function sighting(at: number): Sighting {
    const nick = pick(nicks);
    switch (random(15)) {
      case 0:
        return snapshot(at);
      case 1:
        return { is: 'join', at, nick, ...(at % 2 === 0 ? { account: 'x' } : {}) };
      case 2:
        return { is: 'part', at, nick, reason: '' };
      case 3:
        return { is: 'quit', at, nick, reason: 'gone' };
      case 4:
        return { is: 'kick', at, nick, kicked: pick(nicks), reason: '' };
      case 5:
        return { is: 'nick', at, nick, to: pick(nicks) };
      case 6:
        return { is: 'topic', at, nick, text: `topic ${random(9)}` };
      case 7:
        return { is: 'mode', at, nick, change: '+i', modes: pick(['HPint', 'nt']) };
      case 8:
        return random(3) > 0 ? { is: 'gap', at, from: at - 9, to: at } : { is: 'left', at, reason: 'kicked' };
      case 9:
        return { is: 'action', at, nick: pick([nick, nick.toUpperCase()]), text: 'waves \\ "' };
      case 10:
        return { is: 'notice', at, nick, text: 'é😀\u0000' };
      case 11:
        return { is: 'away', at, nick, ...(at % 2 === 0 ? { message: `away ${at}` } : {}) };
      default:
        return { is: 'message', at, nick, text: `line ${at}`, msgid: `m${at}`, ...who(at, nick) };
    }
  }
}

/** Who the network said that somebody is; not each time. */
const who = (at: number, nick: string) => ({
  ...(at % 3 === 0 ? { account: nick } : {}),
  ...(at % 5 === 0 ? { host: `${nick}@host.example` } : {}),
});

/** A fact of the IRC stream as it was recorded. */
export function observed(
  seq: number,
  at: number,
  channel: string,
  lines: number,
  seen: Sighting[],
  more: Partial<IrcFact['data']> = {},
): Recorded<IrcFact> {
  const data = { channel, lines_before: lines, seen, ...more };
  const place = { id: `f${seq}`, stream: 'IRC', subject: ircSubject(channel), seq, at: new Date(at) };
  return { type: 'channel.observed', data, ...place, by: 'record-irc', cause: null };
}

/** What is known of one channel. */
export interface ExpectedChannel {
  name: string;
  topic: string;
  modes: string;
  present: boolean;
  members: string[];
  lines: { id: string; nick: string; text: string; time: string; action: boolean }[];
  /** Ids of the lines that were said in private. */
  privateLines: Set<string>;
}

/** What a history leads to, worked out one sighting at a time, without what is too old on its last day. */
export function expectedNetwork(facts: Recorded<IrcFact>[]): Map<string, ExpectedChannel> {
  const channels = new Map<string, ExpectedChannel & { nicks: Map<string, string> }>();
  const lastDay = Math.floor(facts.at(-1)!.at.getTime() / dayMs);
  for (const { seq, at, data } of facts) {
    const key = casefold(data.channel);
    const blank = {
      topic: '',
      modes: '',
      present: false,
      members: [] as string[],
      nicks: new Map<string, string>(),
    };
    const channel = channels.get(key) ?? {
      name: data.channel,
      ...blank,
      lines: [] as ExpectedChannel['lines'],
      privateLines: new Set<string>(),
    };
    channels.set(key, channel);
    const isKept = Math.floor(at.getTime() / dayMs) >= lastDay - 30;
    const { nicks } = channel;
    for (const [index, one] of data.seen.entries()) {
      if (one.is === 'join') nicks.set(casefold(one.nick), one.nick);
      else if (one.is === 'part' || one.is === 'quit') nicks.delete(casefold(one.nick));
      else if (one.is === 'kick') nicks.delete(casefold(one.kicked));
      else if (one.is === 'nick') {
        nicks.delete(casefold(one.nick));
        nicks.set(casefold(one.to), one.to);
      } else if (one.is === 'topic') channel.topic = one.text;
      else if (one.is === 'mode') channel.modes = one.modes;
      else if (one.is === 'snapshot') {
        nicks.clear();
        for (const member of one.members)
          nicks.set(casefold(member.replace(/^[@+]+/, '')), member.replace(/^[@+]+/, ''));
        Object.assign(channel, { topic: one.topic, modes: one.modes, present: true });
      } else if (one.is === 'left') {
        nicks.clear();
        channel.present = false;
      } else if (isLine(one) && isKept) {
        const { nick, text } = one;
        const time = new Date(one.at).toISOString();
        const stored = text.replaceAll('\0', '\ufffd');
        if (one.private) channel.privateLines.add(`${seq}-${index}`);
        channel.lines.push({ id: `${seq}-${index}`, nick, text: stored, time, action: one.is === 'action' });
      }
    }
    channel.members = [...nicks.values()].sort();
  }
  return channels;
}

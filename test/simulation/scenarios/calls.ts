import { casefold } from '../../../streams/irc-grammar.js';
import { irc, isLine, type LineSighting, lineId } from '../../../streams/network/index.js';
import type { IrcNetwork, Shown } from '../irc/network.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Meant } from './group-members.js';

/** What somebody was going to say. */
export interface Said {
  groups: readonly Meant[];
  /** Whether they want to know if nobody is meant. */
  asks: boolean;
}

/** A recorded line that addresses groups. */
export interface Call extends Said {
  id: string;
  seq: number;
  /** Its place among all lines of the record. */
  order: number;
  channel: string;
  line: LineSighting;
  /** Of its speaker. */
  host: string;
  /** When the network showed it, in milliseconds since 1970. */
  at: number;
  answers: Answer[];
}

/** A line of the bot that names who is meant. */
export interface Answer {
  at: number;
  channel: string;
  /** As they are written. */
  groups: readonly string[];
  nicks: readonly string[];
  shown: Shown;
}

/** What was recorded of a channel, in the order of the record. */
export interface Record {
  calls: Call[];
  /** The lines of the bot, which answer or not. */
  named: { order: number; at: number; channel: string; nicks: readonly string[] }[];
  lines: Map<string, LineSighting>;
  gaps: { channel: string; from: number; to: number }[];
}

export const nameOf = ({ ability, level }: Meant): string =>
  level > 0 ? `@${ability}+${level}` : `@${ability}`;

/** What the log has, as far as it tells of groups. */
export function recordOf(
  server: SimulatedLogServer,
  said: ReadonlyMap<string, Said>,
  shown: ReadonlyMap<string, Shown>,
  bot: string,
): Record {
  const record: Record = { calls: [], named: [], lines: new Map(), gaps: [] };
  let order = 0;
  for (const { seq, data } of new StoredFacts(server, irc).read()) {
    const channel = casefold(data.channel);
    for (const [index, line] of data.seen.entries()) {
      if (line.is === 'gap') record.gaps.push({ channel, from: line.from, to: line.to });
      if (!isLine(line)) continue;
      order += 1;
      if (line.msgid !== undefined) record.lines.set(line.msgid, line);
      const answer = answerIn(line.text);
      const at = shown.get(line.msgid ?? '')?.at ?? line.at;
      if (casefold(line.nick) === bot && answer)
        record.named.push({ order, at, channel, nicks: answer.nicks });
      const what = said.get(line.text);
      const host = line.host?.replace(/^.*@/, '') ?? '';
      if (what)
        record.calls.push({
          ...what,
          id: lineId(seq, index),
          seq,
          order,
          channel,
          line,
          host,
          at,
          answers: [],
        });
    }
  }
  return record;
}

/** The lines that the bot said in channels, as its server showed them. */
export function answersOf(network: IrcNetwork, bot: string): (Shown & { answer: Answer | undefined })[] {
  const home = network.servers[0]!.name;
  const own = network.seen.filter(
    ({ server, from, command }) =>
      server === home && casefold(from.split('!', 1)[0]!) === bot && command === 'PRIVMSG',
  );
  return own.map((shown) => {
    const channel = casefold(shown.channel);
    const found = answerIn(shown.text);
    return { ...shown, answer: found && { at: shown.at, channel, shown, ...found } };
  });
}

function answerIn(text: string): Pick<Answer, 'groups' | 'nicks'> | undefined {
  const [, groups, nicks] = /^((?:@\S+ ?){1,3}): (\S.*)$/.exec(text) ?? [];
  return groups === undefined ? undefined : { groups: groups.split(' '), nicks: nicks!.split(', ') };
}

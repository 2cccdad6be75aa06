import { privateManagedAmong } from '../../../projections/channels/queries.js';
import { haveMet, wasSeen } from '../../../projections/network/nicks.js';
import { privateIrcAmong } from '../../../projections/network/queries.js';
import { channelSubject, channels } from '../../../streams/channels/index.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import type { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { roomTypeOf } from '../../../streams/events/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { Screening, type Thresholds } from '../../../streams/moderation/index.js';
import { irc, ircSubject } from '../../../streams/network/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type Call, seesPrivate } from '../core/call.js';
import type { Caller } from '../core/caller.js';
import type { HourlyCounts } from '../core/person-limit.js';

/** What the operations of reputation work with. */
export interface ReputationParts {
  log: Log;
  readModels: ReadModels;
  call: Call;
  reputation: {
    rows: OwnReadModel;
    /** Feedback of one giver for one agent is recorded in sequence. */
    lock: KeyedLock;
    /** Casefolded names of the paid channels: they are private as well. */
    paidChannels: readonly string[];
    /** Counts the ratings and answers of an hour, by who gives them: each is on record for good. */
    given: HourlyCounts;
    /** The points from which free text is withheld. */
    thresholds: Thresholds;
    /** Whether a nick is linked with a wallet. */
    isLinked(nick: string): Promise<boolean>;
  };
}

/**
 * Those of some channels (casefolded) that a caller is not told about: for the public, the ones that are private now, as
 * far as it has been folded.
 */
export async function hiddenAmong(
  names: readonly string[],
  caller: Caller,
  { readModels, reputation }: PrivacyParts,
): Promise<Set<string>> {
  if (seesPrivate(caller)) return new Set();
  const among = [...new Set(names)];
  const [seen, managed] = await Promise.all([
    readModels.read('irc_network', (sql, schema) => privateIrcAmong(sql, schema, among)),
    readModels.read('channel_directory', (sql, schema) => privateManagedAmong(sql, schema, among)),
  ]);
  return new Set([...seen, ...managed, ...reputation.paidChannels]);
}

/** What has to be known to tell which channels are private. */
type PrivacyParts = Pick<ReputationParts, 'readModels'> & {
  reputation: Pick<ReputationParts['reputation'], 'paidChannels'>;
};

/**
 * Whether a channel is private, for something that is recorded with the answer for good: what was decided or seen of the
 * channel until now counts. Throws `read_model_behind` if a read model lags.
 */
export async function isPrivateNow(
  channel: string,
  parts: PrivacyParts & Pick<ReputationParts, 'log'>,
): Promise<boolean> {
  const { log, readModels, reputation } = parts;
  const name = casefold(channel);
  if (reputation.paidChannels.includes(name)) return true;
  const [decided, seen] = await Promise.all([
    log.last(channels, channelSubject(name)),
    log.last(irc, ircSubject(name)),
  ]);
  // the room of a task is closed from its assignment on, which may be under way
  if (!decided && !seen) return roomTypeOf(name) === 'task';
  const [managed, network] = await Promise.all([
    readModels.readAt(
      'channel_directory',
      (sql, schema) => privateManagedAmong(sql, schema, [name]),
      decided,
    ),
    readModels.readAt('irc_network', (sql, schema) => privateIrcAmong(sql, schema, [name]), seen),
  ]);
  return managed.length > 0 || network.length > 0;
}

/** How far back a meeting counts, in milliseconds. */
const metMs = 30 * 24 * 3_600_000;

/** Throws if the holder of an agent key rates a nick that it has not met, or that is not there at all. */
export async function requireMet(
  caller: Caller,
  feedback: { from: string; nick: string; channel: string },
  { log, readModels, reputation }: ReputationParts,
): Promise<void> {
  if (caller.is !== 'agent') return;
  const [from, nick] = [casefold(feedback.from), casefold(feedback.nick)];
  if (from === nick) return; // which is told in its own words
  const place = { channel: casefold(feedback.channel), since: new Date(log.now().getTime() - metMs) };
  const met = await readModels.read('irc_network', (sql, schema) =>
    haveMet(sql, schema, { nicks: [from, nick], ...place }),
  );
  if (met) return;
  const seen = await readModels.read('irc_network', (sql, schema) => wasSeen(sql, schema, nick));
  if (seen || (await reputation.isLinked(nick))) throw new Refusal('not_met');
  throw new Refusal('nick_never_seen');
}

/** Somebody's text as others may read it: what looks like an attack on agents is left out. */
export const screened = (text: string, { reputation }: ReputationParts): string =>
  new Screening(reputation.thresholds).screen(text);

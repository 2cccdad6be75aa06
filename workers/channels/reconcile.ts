import { deletedAmong, type WantedChannel, wantedChannels } from '../../projections/channels/queries.js';
import { channelSubject, channels, modeFlags } from '../../streams/channels/index.js';
import { clock } from '../../streams/core/clock.js';
import type { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, isManagedChannel } from '../../streams/irc-grammar.js';
import { maxForced, permanentMode } from '../irc/join.js';
import { textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import {
  hasSetting,
  inLines,
  type Members,
  type Modes,
  membersIn,
  membersOf,
  modesOf,
  online,
  readModes,
  topicOf,
} from './lookups.js';
import type { KeepChannelsOptions } from './options.js';
import { applySettings, closeRoom } from './room.js';
import { isSilent, noteSilence } from './voices.js';

/** What reconciling works with. */
export interface ReconcileOptions
  extends Pick<KeepChannelsOptions, 'log' | 'read' | 'bots' | 'masksIn' | 'logger' | 'observe'> {
  locks: KeyedLock;
  /** Whether a channel is never managed, whatever is recorded about it. */
  isReserved(name: string): boolean;
  /** Whether a command has changed the wanted state of a channel since this check began, and applied it. */
  isTouched(name: string): boolean;
  /** Not the first time in this session: our bots are already where they should be. */
  isAgain: boolean;
  /** The operators of a channel that the service has made. */
  operatorsOf(name: string): Promise<readonly string[]>;
  /** Nicks that had to leave a closed channel: they must be brought back. */
  expect(name: string, nicks: readonly string[]): void;
}

/** The wanted channels, and who is in them. */
export interface Reconciled {
  wanted: WantedChannel[];
  members: Map<string, Members>;
}

/** A channel as the server lists it; without `modes` if the server does not show them. */
interface Listed {
  modes: Modes | undefined;
  topic: string;
}

/**
 * Brings the network to what is recorded. The channel bot and our other bots enter every wanted channel.
 * Settings and topics are repaired. Channels that were deleted while the network was away are removed.
 * Differences are logged. Done once for each session and after each netsplit: later changes by people are
 * theirs to make.
 */
export async function reconcile(session: Session, options: ReconcileOptions): Promise<Reconciled> {
  const { log, read, locks, logger, isReserved, isTouched } = options;
  const started = clock.elapsed();
  const after = { stream: channels.name, seq: await log.head(channels) };
  const recorded = await read((sql, schema) => wantedChannels(sql, schema), after);
  const wanted = recorded.filter(({ name }) => !isReserved(name));
  const listed = await list(session);
  // what a command has changed since is not so any more
  for (const { name, modes } of wanted)
    if (!isTouched(name)) noteSilence(session, name, modeFlags(modes).has('m'));
  const members = await enterAll(session, wanted, session.nick);
  const recreated = wanted.filter(({ name }) => !listed.has(name)).length;
  // channels made by entering have the server's default settings: one list is cheaper than asking about each
  const found = recreated > 0 ? await list(session) : listed;
  let repaired = 0;
  const repair = async (channel: WantedChannel): Promise<void> => {
    const { name } = channel;
    if (isTouched(name) || !session.isIn(name)) return;
    const isFresh = !listed.has(name);
    // a server that makes no room outlive its members shows nothing of who made this one
    const isRuled = !isFresh && !options.isAgain && !hasSetting(session, permanentMode);
    const known = isRuled ? (members.get(name) ?? (await membersOf(session, name))) : members.get(name);
    const present = { ...(await look(session, channel, found.get(name), known)), isFresh };
    const isAsked = isRuled || [...present.members.values()].some(({ rules }) => rules);
    const operators = isAsked ? await options.operatorsOf(name) : [];
    const wanted = { ...channel, operators, isRuled };
    const { changed, refused, out, members: now } = await applySettings(session, wanted, present, options);
    if (out.length > 0) {
      members.set(name, now);
      options.expect(name, out);
    }
    if (changed.length > 0 && listed.has(name)) logger.info({ channel: name, changed }, 'channel repaired');
    if (refused) logger.warn({ channel: name, ...refused }, 'channel cannot be repaired');
    if (changed.length > 0) repaired += 1;
  };
  await Promise.all(wanted.map((channel) => locks.run(channel.name, () => repair(channel))));
  const brought = await bringBots(session, wanted, members, options);
  const removed = await removeDeleted(session, wanted, listed, options);
  const missing = wanted.filter(({ name }) => !session.isIn(name) && !isTouched(name));
  for (const { name } of missing.slice(0, 20)) logger.warn({ channel: name }, 'channel cannot be entered');
  options.observe?.repaired('changed', repaired);
  options.observe?.repaired('recreated', recreated);
  options.observe?.repaired('removed', removed);
  options.observe?.repaired('bot_brought_in', brought);
  const ms = Math.round(clock.elapsed() - started);
  logger.info(
    { channels: wanted.length, recreated, repaired, brought, removed, missing: missing.length, ms },
    'channels reconciled',
  );
  return { wanted, members };
}

/** Brings one of our bots into every channel that has invited it. */
export async function bringBot(
  session: Session,
  nick: string,
  wanted: readonly WantedChannel[],
): Promise<void> {
  const key = casefold(nick);
  const asked = wanted.filter(({ invited }) => invited.some((one) => casefold(one) === key));
  const silent = asked.filter(({ modes }) => modeFlags(modes).has('m'));
  for (const { name } of silent) noteSilence(session, name, true);
  await enterAll(session, asked, nick);
  // a command may have made others silent since they were read
  const mute = asked.filter(({ name }) => isSilent(session, name));
  await Promise.all(mute.map(({ name }) => session.ask('SAMODE', name, '+v', nick)));
}

async function bringBots(
  session: Session,
  wanted: readonly WantedChannel[],
  members: ReadonlyMap<string, Members>,
  { bots, isAgain }: ReconcileOptions,
): Promise<number> {
  const there = await online(session, bots);
  let brought = 0;
  for (const bot of bots.filter((nick) => there.has(casefold(nick)))) {
    const away = wanted.filter(
      ({ name, invited }) =>
        invited.some((nick) => casefold(nick) === casefold(bot)) &&
        !(members.get(name)?.has(casefold(bot)) ?? isAgain),
    );
    await bringBot(session, bot, away);
    brought += away.length;
  }
  return brought;
}

/** Forces a nick into channels, many with one line. Answers the members of those that we see it enter. */
async function enterAll(
  session: Session,
  wanted: readonly { name: string }[],
  nick: string,
): Promise<Map<string, Members>> {
  const isMe = nick === session.nick;
  const names = wanted.map(({ name }) => name).filter((name) => !isMe || !session.isIn(name));
  const answers = await Promise.all(
    inLines(names, ',', maxForced).map((names) => session.ask('SAJOIN', nick, names)),
  );
  return membersIn(
    session,
    answers.flatMap(({ lines }) => lines),
  );
}

/** Every channel of the network, from the server's list. */
async function list(session: Session): Promise<Map<string, Listed>> {
  const { lines } = await session.ask('LIST');
  const listed = new Map<string, Listed>();
  for (const line of lines) {
    if (line.command !== '322') continue;
    const [, modes, topic] = /^\[(\+[^\]]*)\] ?(.*)$/s.exec(textOf(line)) ?? [];
    listed.set(
      casefold(line.params[1] ?? ''),
      modes === undefined
        ? { modes: undefined, topic: textOf(line) }
        : { modes: readModes(session, modes.split(' ')), topic: topic! },
    );
  }
  return listed;
}

async function look(
  session: Session,
  { name, modes: wanted }: WantedChannel,
  listed: Listed | undefined,
  members: Members | undefined,
) {
  // the members matter only where somebody must be silenced
  const present = modeFlags(wanted).has('m') ? members : (members ?? new Map());
  // a list does not show the key to those outside the channel
  if (listed?.modes && !listed.modes.has('k') && present)
    return { modes: listed.modes, topic: listed.topic, members: present };
  const [modes, topic, found] = await Promise.all([
    modesOf(session, name),
    topicOf(session, name),
    present ?? membersOf(session, name),
  ]);
  return { modes, topic, members: found };
}

/** Channels that we made and that were deleted, but were left by a crash or an outage. */
async function removeDeleted(
  session: Session,
  wanted: readonly WantedChannel[],
  listed: ReadonlyMap<string, Listed>,
  { log, read, locks, logger, isReserved, isTouched }: ReconcileOptions,
): Promise<number> {
  const known = new Set(wanted.map(({ name }) => name));
  // without +P it is somebody else's by now: the name is free again
  const left = [...listed].filter(
    ([name, { modes }]) =>
      modes?.has(permanentMode) && !known.has(name) && isManagedChannel(name) && !isReserved(name),
  );
  if (left.length === 0) return 0;
  const deleted = await read((sql, schema) =>
    deletedAmong(
      sql,
      schema,
      left.map(([name]) => name),
    ),
  );
  let removed = 0;
  const remove = async (name: string): Promise<void> => {
    if (isTouched(name)) return;
    // the read model may lag: the channel may have been opened again
    if ((await log.last(channels, channelSubject(name)))?.type !== 'channel.deleted') return;
    await closeRoom(session, name, 'Channel deleted');
    logger.info({ channel: name }, 'deleted channel removed');
    removed += 1;
  };
  await Promise.all(deleted.map((name) => locks.run(name, () => remove(name))));
  return removed;
}

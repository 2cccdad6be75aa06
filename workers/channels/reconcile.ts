import { deletedAmong, type WantedChannel, wantedChannels } from '../../projections/channels/queries.js';
import { channelSubject, channels, modeFlags } from '../../streams/channels/index.js';
import { clock } from '../../streams/core/clock.js';
import type { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, isManagedChannel } from '../../streams/irc-grammar.js';
import { maxForced, permanentMode } from '../irc/join.js';
import { textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import {
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
import { noteSilence } from './voices.js';

/** What reconciling works with. */
export interface ReconcileOptions
  extends Pick<KeepChannelsOptions, 'log' | 'read' | 'bots' | 'logger' | 'observe'> {
  locks: KeyedLock;
  /** Whether a channel is not managed, whatever is recorded of it. */
  isReserved(name: string): boolean;
  /** Whether a command has changed what a channel is to be since this look began, and made it so. */
  isTouched(name: string): boolean;
  /** Not the first time in this session: our bots are where they are to be. */
  isAgain: boolean;
}

/** What was to be there, and who is in it. */
export interface Reconciled {
  wanted: WantedChannel[];
  members: Map<string, Members>;
}

/** A channel as the server lists it; without `modes` where the server does not show them. */
interface Listed {
  modes: Modes | undefined;
  topic: string;
}

/**
 * Brings the network to what is recorded: the channel bot and our other bots into every channel that is to be
 * there, settings and topics repaired, channels removed that were deleted while nobody could do it. Differences
 * are logged. Done once for each session and after each netsplit: what people change meanwhile is theirs to change.
 */
export async function reconcile(session: Session, options: ReconcileOptions): Promise<Reconciled> {
  const { log, read, locks, logger, isReserved, isTouched } = options;
  const started = clock.elapsed();
  const after = { stream: channels.name, seq: await log.head(channels) };
  const recorded = await read((sql, schema) => wantedChannels(sql, schema), after);
  const wanted = recorded.filter(({ name }) => !isReserved(name));
  const listed = await list(session);
  for (const { name, modes } of wanted) noteSilence(session, name, modeFlags(modes).has('m'));
  const members = await enterAll(session, wanted, session.nick);
  const recreated = wanted.filter(({ name }) => !listed.has(name)).length;
  // what entering has made looks as the server makes channels: it is cheaper listed than asked of each
  const found = recreated > 0 ? await list(session) : listed;
  let repaired = 0;
  const repair = async (channel: WantedChannel): Promise<void> => {
    const { name } = channel;
    if (isTouched(name) || !session.isIn(name)) return;
    const present = await look(session, channel, found.get(name), members.get(name));
    const { changed, refused } = await applySettings(session, channel, present, options.bots);
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

/** Brings one of our bots into every channel that has asked it in. */
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
  await Promise.all(silent.map(({ name }) => session.ask('SAMODE', name, '+v', nick)));
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

/** Forces a nick into channels, many with one line; who is in those that we see it enter. */
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

/** Every channel of the network as it stands in the server's list. */
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
  // who is there matters only where somebody is to be silenced
  const present = modeFlags(wanted).has('m') ? members : (members ?? new Map());
  // a list does not show the key to who was not in the channel
  if (listed?.modes && !listed.modes.has('k') && present)
    return { modes: listed.modes, topic: listed.topic, members: present };
  const [modes, topic, found] = await Promise.all([
    modesOf(session, name),
    topicOf(session, name),
    present ?? membersOf(session, name),
  ]);
  return { modes, topic, members: found };
}

/** Channels that we made and that were deleted, and that a crash or an outage has left behind. */
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
    // the read model may be behind: it may have been opened again
    if ((await log.last(channels, channelSubject(name)))?.type !== 'channel.deleted') return;
    await closeRoom(session, name, 'Channel deleted');
    logger.info({ channel: name }, 'deleted channel removed');
    removed += 1;
  };
  await Promise.all(deleted.map((name) => locks.run(name, () => remove(name))));
  return removed;
}

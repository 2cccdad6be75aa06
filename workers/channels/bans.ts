import { casefold } from '../../streams/irc-grammar.js';
import { type IrcLine, isError } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { changeEach } from './lookups.js';
import type { Ours } from './options.js';

/** How a server says that a mask is in a list already, or is not in it. */
const asWanted = new Set(['697', '698']);
/** How a server says that a list takes no more masks. */
const isFull = '478';
/** What our masks may fill of a list: the rest is for those who moderate by hand. */
const share = 0.9;

/** Lists of a channel: who is kept out or from speaking, and who is exempt from that. */
const banList = 'b';
const exceptionList = 'e';

/** A mask in a list of a channel, in the order of the list. */
interface Entry {
  mask: string;
  by: string;
  /** When it was set, in seconds since 1970. */
  at: number;
  /** The server that shows it. */
  shownBy: string;
}

/**
 * Sets a ban and looks whether it is there; why not, if so. When the list is full, or nearly, the oldest masks that
 * this bot has set are removed first.
 */
export async function setBan(session: Session, channel: string, mask: string): Promise<string | undefined> {
  const set = () => session.ask('SAMODE', channel, '+b', mask);
  let { error } = await set();
  if (error?.code === isFull && (await makeRoom(session, channel, 1))) ({ error } = await set());
  // done before by one that could not record it
  if (error && !asWanted.has(error.code)) return error.text;
  const bans = await bansOf(session, channel);
  if (!bans.some((ban) => ban.mask === mask)) return notDone;
  const { most } = await limitsOf(session);
  const tooMany = most === undefined ? 0 : bans.length - Math.floor(most * share);
  if (tooMany > 0) await makeRoom(session, channel, tooMany, mask);
  return undefined;
}

/** Takes a ban away, and looks whether it is gone; why not, if so. */
export async function lift(session: Session, channel: string, mask: string): Promise<string | undefined> {
  const { error } = await session.ask('SAMODE', channel, '-b', mask);
  // a channel that is gone has no bans
  if (error?.code === '403') return undefined;
  if (error && !asWanted.has(error.code)) return error.text;
  return (await bansOf(session, channel)).some((ban) => ban.mask === mask) ? notDone : undefined;
}

/** Has nobody of these nicks be kept out of a channel or from speaking there by any mask, as far as the server can. */
export async function except(session: Session, channel: string, nicks: readonly string[]): Promise<void> {
  const { exceptions, extended } = await limitsOf(session);
  if (nicks.length === 0) return;
  if (!exceptions) {
    // a voice is heard over a ban on most servers; those who are not there get none
    for (const nick of nicks) await session.ask('SAMODE', channel, '+v', nick);
    return;
  }
  const masks = nicks
    .flatMap(exceptionsOf)
    .filter((mask) => !mask.startsWith('m:') || extended.includes('m'));
  await session.ask('SAMODE', channel, `+${'e'.repeat(masks.length)}`, ...masks);
}

/** The masks that keep a nick out of every ban and out of every mute. */
const exceptionsOf = (nick: string): string[] => [`${nick}!*@*`, `m:${nick}!*@*`];

/**
 * The masks with which moderation keeps people from speaking in a channel (`mutes`, without the letter that says so), and out
 * of it (`bans`).
 */
export async function moderationIn(
  session: Session,
  channel: string,
  { masksIn }: Pick<Ours, 'masksIn'>,
): Promise<{ mutes: string[]; bans: string[] }> {
  const entries = await bansOf(session, channel);
  const isSet = entries.length > 0 ? await setByModeration(session, channel, masksIn) : () => false;
  const masks = entries.filter((entry) => isSet(entry)).map(({ mask }) => mask);
  return {
    mutes: masks.flatMap((mask) => (mask.startsWith('m:') ? [mask.slice(2)] : [])),
    bans: masks.filter((mask) => !mask.startsWith('m:')),
  };
}

const isOurs = (session: Session, { by }: Entry): boolean =>
  casefold(by.split('!', 1)[0]!) === casefold(session.nick);

/** Whether a server is named as who has set it. */
const isOfServer = ({ by }: Entry): boolean => /^[^!@]*\.[^!@]*$/.test(by);

const notDone = 'The network did not carry it out';

/** Lifts so many of the oldest masks that this bot has set, but `kept`; whether there were any. */
async function makeRoom(session: Session, channel: string, count: number, kept?: string): Promise<boolean> {
  const ours = (await bansOf(session, channel)).filter((ban) => isOurs(session, ban) && ban.mask !== kept);
  const oldest = ours.sort((one, other) => one.at - other.at).slice(0, count);
  for (const { mask } of oldest) await session.ask('SAMODE', channel, '-b', mask);
  return oldest.length > 0;
}

const bansOf = (session: Session, channel: string): Promise<Entry[]> => listOf(session, channel, banList);

/**
 * A list of a channel. Servers number the lines of each list differently; but each line of a mask also names who set it,
 * and the end of the list has a text alone.
 */
async function listOf(session: Session, channel: string, flag: string): Promise<Entry[]> {
  const { lines } = await session.ask('MODE', channel, `+${flag}`);
  return lines.flatMap((line) => entryOf(line, flag) ?? []);
}

const numericOf: Record<string, string> = { b: '367', e: '348', I: '346' };

function entryOf({ command, params, hostname }: IrcLine, flag: string): Entry | undefined {
  if (!/^\d\d\d$/.test(command) || isError(command)) return undefined;
  const words = params.slice(params[2] === flag && params.length > 4 ? 3 : 2);
  const known = numericOf[flag];
  if (known === undefined ? words.length < 2 : command !== known) return undefined;
  const [mask = '', by = '', at = ''] = words;
  return mask === '' ? undefined : { mask, by, at: Number(at) || 0, shownBy: hostname };
}

/**
 * Empties all lists of a channel, but for what moderation has set there: the bans of this bot, those that are recorded, and
 * what keeps our bots out of them. `isKept`: the channel was ours before. Answers how many masks were removed.
 */
export async function emptyLists(
  session: Session,
  channel: string,
  ours: Ours,
  isKept = true,
): Promise<number> {
  return await removeFrom(session, channel, { ours, isKept, isToGo: () => true });
}

/**
 * Removes the masks that another server has brought into the lists of a channel that is ours, and answers how many. What people
 * set there is theirs, as long as the network knows who it was.
 */
export async function removeForeignMasks(session: Session, channel: string, ours: Ours): Promise<number> {
  return await removeFrom(session, channel, { ours, isKept: true, isToGo: isForeign });
}

interface Removal {
  ours: Ours;
  isKept: boolean;
  isToGo(entry: Entry): boolean;
}

/** Removes those masks that are to go and that moderation has not set; answers how many. */
async function removeFrom(
  session: Session,
  channel: string,
  { ours, isKept, isToGo }: Removal,
): Promise<number> {
  const [flags = ''] = session.modeNames.channelModes;
  const lists = await Promise.all(
    [...flags].map(async (flag) => ({ flag, entries: await listOf(session, channel, flag) })),
  );
  if (!lists.some(({ entries }) => entries.some(isToGo))) return 0;
  const isToStay = await spared(session, channel, ours, isKept);
  const gone = lists.flatMap(({ flag, entries }) =>
    entries
      .filter((entry) => isToGo(entry) && !isToStay(flag, entry))
      .map(({ mask }) => ({ flag, parameter: mask })),
  );
  await changeEach(session, channel, '-', gone);
  // a ban that stays must not be one on our bots
  const staying = lists.flatMap(({ flag, entries }) =>
    entries.filter((entry) => flag === banList && isToStay(flag, entry)),
  );
  if (staying.some((ban) => gone.length > 0 || isForeign(ban))) await except(session, channel, ours.bots);
  return gone.length;
}

/** Tells which masks of a channel stay, because moderation has set them. */
async function spared(session: Session, channel: string, { bots, masksIn }: Ours, isKept: boolean) {
  const isSet = await setByModeration(session, channel, masksIn);
  const exceptions = new Set([session.nick, ...bots].flatMap(exceptionsOf).map(casefold));
  return (flag: string, entry: Entry): boolean => {
    const isException = exceptions.has(casefold(entry.mask));
    if (flag === exceptionList) return isException;
    return flag === banList && isSet(entry, isKept && !isException);
  };
}

/**
 * Tells which bans of a channel moderation has set. Servers forget who set a ban when they are restarted: so what is recorded
 * decides. While that cannot be read, those count that a server names as its own, if they have the form of ours and `mayBe`.
 */
async function setByModeration(session: Session, channel: string, masksIn: Ours['masksIn']) {
  const recorded = await masksIn(channel);
  const inForce = new Set(recorded?.map(casefold));
  return (entry: Entry, mayBe = true): boolean =>
    isOurs(session, entry) ||
    (recorded ? inForce.has(casefold(entry.mask)) : mayBe && isOfServer(entry) && hasOurForm(entry.mask));
}

/** Whether another server has brought a mask that nobody is known to have set. */
const isForeign = (entry: Entry): boolean => isOfServer(entry) && entry.by !== entry.shownBy;

/** Whether a mask is of the form in which `maskOf` makes them: each part is named in full, or anything. */
const hasOurForm = (mask: string): boolean =>
  /^(?:m:)?(?:R:[^*?]+|(?:U:)?(?:\*|[^*?!@]+)!(?:\*|[^*?!@]+)@[^*?!@]+|[^*?!@]+!\*@\*)$/.test(mask);

/** What the server has and takes of bans. */
export interface Limits {
  /** The letters of its extended bans. */
  extended: string;
  /** Whether channels can have exceptions of bans. */
  exceptions: boolean;
  /** Whether WHO can be asked for accounts. */
  whox: boolean;
  /** How many masks a list takes; undefined where it does not say. */
  most: number | undefined;
}

const known = new WeakMap<Session, Limits>();

/** What a server has and takes of bans; it is asked once a session. */
export async function limitsOf(session: Session): Promise<Limits> {
  const before = known.get(session);
  if (before !== undefined) return before;
  const { lines } = await session.ask('VERSION');
  const words = lines.filter(({ command }) => command === '005').flatMap(({ params }) => params);
  const after = (word: string) => words.find((one) => one.startsWith(word))?.slice(word.length) ?? '';
  const most = Number(/(?:^|,)\w*b\w*:(\d+)/.exec(after('MAXLIST='))?.[1]);
  const limits = {
    extended: /^[^,]*,(\w*)$/.exec(after('EXTBAN='))?.[1] ?? '',
    exceptions: words.some((word) => /^EXCEPTS(=|$)/.test(word)),
    whox: words.includes('WHOX'),
    most: most || undefined,
  };
  known.set(session, limits);
  return limits;
}

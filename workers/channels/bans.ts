import { casefold } from '../../streams/irc-grammar.js';
import type { Session } from '../irc/session.js';

/** How a server says that a mask is in a list already, or is not in it. */
const asWanted = new Set(['697', '698']);
/** How a server says that a list takes no more masks. */
const isFull = '478';
/** What our masks may fill of a list: the rest is for those who moderate by hand. */
const share = 0.9;

/** A mask in the list of bans of a channel, in the order of the list. */
interface Ban {
  mask: string;
  by: string;
  /** When it was set, in seconds since 1970. */
  at: number;
}

/**
 * Sets a ban and looks whether it is there; why not, if so. Of a list that is full, or nearly, the oldest masks that
 * this bot has set go first.
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
  const masks = nicks.flatMap((nick) => [
    `${nick}!*@*`,
    ...(extended.includes('m') ? [`m:${nick}!*@*`] : []),
  ]);
  await session.ask('SAMODE', channel, `+${'e'.repeat(masks.length)}`, ...masks);
}

/** The masks with which this bot keeps people from speaking in a channel, without the letter that says so. */
export async function mutesOf(session: Session, channel: string): Promise<string[]> {
  const ours = (await bansOf(session, channel)).filter((ban) => isOurs(session, ban));
  return ours.flatMap(({ mask }) => (mask.startsWith('m:') ? [mask.slice(2)] : []));
}

const isOurs = (session: Session, { by }: Ban): boolean =>
  casefold(by.split('!', 1)[0]!) === casefold(session.nick);

const notDone = 'The network did not carry it out';

/** Lifts so many of the oldest masks that this bot has set, but `kept`; whether there were any. */
async function makeRoom(session: Session, channel: string, count: number, kept?: string): Promise<boolean> {
  const ours = (await bansOf(session, channel)).filter((ban) => isOurs(session, ban) && ban.mask !== kept);
  const oldest = ours.sort((one, other) => one.at - other.at).slice(0, count);
  for (const { mask } of oldest) await session.ask('SAMODE', channel, '-b', mask);
  return oldest.length > 0;
}

async function bansOf(session: Session, channel: string): Promise<Ban[]> {
  const { lines } = await session.ask('MODE', channel, '+b');
  return lines
    .filter(({ command }) => command === '367')
    .map(({ params: [, , mask = '', by = '', at = ''] }) => ({ mask, by, at: Number(at) || 0 }));
}

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

import { isManagedChannel } from '../irc-grammar.js';
import { shortId, textOf } from './formats.js';

/** The public feed, and the place of every line that has no other. */
export const feedChannel = '#bounties';

const prefixes = {
  task: '#task-',
  relay: '#relay-',
  geographic: '#city-',
  category: '#cat-',
  special: '#test-',
} as const;

/** What kind of room a line's channel is, when it is one that lines may be the first to need. */
export function roomTypeOf(name: string): keyof typeof prefixes | undefined {
  const types = Object.keys(prefixes) as (keyof typeof prefixes)[];
  return types.find((type) => name.startsWith(prefixes[type]));
}

/**
 * Where the line of a test is shown in place of a channel. There is one such channel for each feed, and one for each kind
 * of room, so tests make no more of them.
 */
export function testChannel(name: string): string {
  const type = roomTypeOf(name);
  return `${prefixes.special}${type ? prefixes[type].slice(1, -1) : name.slice(1)}`;
}

function channel(prefix: string, part: string): string | undefined {
  const name = `${prefix}${part}`;
  // hyphens alone are no name
  return /[a-z0-9]/.test(part) && isManagedChannel(name) ? name : undefined;
}

const unsafe = /[^A-Za-z0-9_-]/g;

// Filtered before lower-casing: some foreign capitals become ASCII letters when lower-cased.
function channelSafe(text: string): string {
  return text.replace(unsafe, '').toLowerCase();
}

/** Whether the name of a room has every character that shows of an id of a task or relay. */
export function isWholeInName(id: unknown): boolean {
  return shortId(id).search(unsafe) < 0;
}

/** `#task-` and the first 8 characters of a task id; undefined when nothing usable is left of it. */
export function taskChannel(id: unknown): string | undefined {
  return channel(prefixes.task, channelSafe(shortId(id)));
}

/** `#relay-` and the first 8 characters of a relay id; undefined when nothing usable is left of it. */
export function relayChannel(relayId: unknown): string | undefined {
  return channel(prefixes.relay, channelSafe(shortId(relayId)));
}

/** The rooms of the task and of the relay that a normalised payload is about; an id that names no room, as it is. */
export function subjectsOf(payload: { id?: unknown; relay_id?: unknown }): string[] {
  const rooms = [taskChannel(payload.id), relayChannel(payload.relay_id)].map((name) => name?.slice(1));
  const ids = [textOf(payload.id), textOf(payload.relay_id)];
  return rooms.flatMap((room, index) => room ?? ids[index] ?? []);
}

/** `#cat-` and the category with hyphens for underscores; undefined when that is no channel name. */
export function categoryChannel(category: unknown): string | undefined {
  return channel(prefixes.category, channelSafe((textOf(category) ?? '').replaceAll('_', '-')));
}

// Letters whose stroke or ligature Unicode does not count as a separable mark.
const strokes: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
};

// Far beyond what fits a channel name; one compatibility character can become 18 letters.
const longestCity = 200;

/** The city of a location: what is before the first comma, as sent. */
export function cityOf(location: unknown): string {
  return (textOf(location) ?? '').split(',', 1)[0]!;
}

/** `#city-` and the slug of a location's city (`São Paulo, BR` → `#city-sao-paulo`); undefined without one. */
export function cityChannel(location: unknown): string | undefined {
  const name = cityOf(location);
  if (name === '' || name.length > longestCity) return undefined;
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđħŧı]/g, (letter) => strokes[letter]!)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  // an address in the wrong field: channel names are public, whole wallets are not
  if (/0x[0-9a-f]{40}/.test(slug)) return undefined;
  return channel(prefixes.geographic, slug);
}

import {
  channelEffects,
  feedChannel,
  isKnownType,
  isWholeInName,
  type MarketEvent,
  type MarketPayload,
  payloadAliases,
  ratingTypes,
  relayChannel,
  routeEvent,
  ShownFields,
  samplePayload,
  sampleTypes,
  targetChannels,
  taskChannel,
} from '../../../streams/events/index.js';
import { isNick } from '../../../streams/irc-grammar.js';
import { nearestWord } from '../../words/spelling.js';

/** What its producer may not have meant: the member of the event, and why. */
export interface Warning {
  path: string;
  message: string;
}

/** Names no task or relay that there is; the samples are about it. */
const sampleId = 'a1b2c3d4';
const aliases = Object.entries(payloadAliases);
/** Fields that count for some type, under all their names. */
const fields = new Set([
  ...sampleTypes.flatMap((type) => Object.keys(samplePayload(type, sampleId)!)),
  ...[...aliases.flatMap(([, names]) => names), 'worker_wallet', 'from_nick', 'to_nick'],
]);

/**
 * What looks wrong about an event that is still accepted. Its type is nearly one of the list, or the value of
 * a field shows nothing. Or its id names no room, as those of its type do. A trial also hears of a type that
 * is not in the list, nor near one of it.
 */
export function warningsOf({ event_type, payload }: Event, isTrial: boolean): Warning[] {
  if (!isKnownType(event_type)) {
    const nearest = nearestWord(event_type.toLowerCase(), sampleTypes);
    if (!nearest && !isTrial) return [];
    const says = 'has no line of its own: everybody sees its payload in #bounties';
    const meant = nearest ? `. Is ${nearest} meant?` : '';
    return [{ path: 'event_type', message: `event_type ${event_type} ${says}${meant}` }];
  }
  const warnings: Warning[] = [];
  for (const [field, kind] of kindsOf(event_type)) {
    const { [field]: value } = payload;
    if (value === undefined || value === null) continue;
    const isShown = shows(value, kind);
    const isMeant = kind === 'text' || isInRange(event_type, Number(value));
    const rounded = isShown && kind === 'amount' && !isRating(event_type) ? roundedOf(value) : undefined;
    if (isShown && isMeant && rounded === undefined) continue;
    // what else is in the payload decides whether the line has a place for the field, and of what kind it is there
    const here = kindOf(event_type, payload, field);
    if (!here) continue;
    const path = `payload.${field}`;
    if (!shows(value, here))
      warnings.push({ path, message: `${path} shows nothing: it should be ${wanted[here]}` });
    else if (!isMeant) warnings.push({ path, message: `${path} should be ${rangeOf(event_type)}` });
    else if (rounded !== undefined) warnings.push({ path, message: `${path} is shown as ${rounded}` });
  }
  warnings.push(...uninvited({ event_type, payload }));
  const ofRoom = roomlessness({ event_type, payload }) ?? sharedRoom({ event_type, payload });
  return ofRoom ? [...warnings, ofRoom] : warnings;
}

/** What an amount is shown as that is not shown exactly. */
function roundedOf(value: unknown): string | undefined {
  const shown = new ShownFields({ total_bounty: value }).totalBounty;
  return shown !== undefined && Number(shown.slice(1)) !== Number(value) ? shown : undefined;
}

/** Those who would be invited to the room that an event opens, and can have no such nick. */
function uninvited({ event_type, payload }: Event): Warning[] {
  const invited = ['worker_nick', 'publisher_nick'].filter((field) => {
    const { [field]: nick } = payload;
    if (typeof nick !== 'string' || isNick(nick)) return false;
    const { open } = channelEffects({ event_type, payload: { ...payload, [field]: 'somebody' } });
    return open?.invite_list.includes('somebody');
  });
  return invited.map((field) => {
    const path = `payload.${field}`;
    return { path, message: `${path} can be nobody's nick on IRC: nobody is invited for it` };
  });
}

/** What becomes of an event whose id names no room, as those of its type do. */
function roomlessness({ event_type, payload }: Event): Warning | undefined {
  const isRelay = event_type.startsWith('relay.');
  const path = `payload.${isRelay ? 'relay_id' : 'id'}`;
  if (!belongsInFeed(event_type) && targetChannels({ event_type, payload }).includes(feedChannel))
    return { path, message: `${path} names no room: the line goes to ${feedChannel}` };
  const { [isRelay ? 'relay_id' : 'id']: id } = payload;
  if (id === undefined || id === null || !belongsInRoom(event_type) || subjectRoom(payload, isRelay))
    return undefined;
  return { path, message: `${path} names no room: the ${isRelay ? 'relay' : 'task'} has none` };
}

/** That other ids name the same room: what no name of a channel has drops out of it. */
function sharedRoom({ event_type, payload }: Event): Warning | undefined {
  const isRelay = event_type.startsWith('relay.');
  const field = isRelay ? 'relay_id' : 'id';
  if (isWholeInName(payload[field]) || !belongsInRoom(event_type)) return undefined;
  const room = subjectRoom(payload, isRelay);
  if (room === undefined) return undefined;
  const path = `payload.${field}`;
  const message = `${path} has characters that are left out of names of rooms: other ids may share ${room}`;
  return { path, message };
}

const subjectRoom = ({ id, relay_id }: MarketPayload, isRelay: boolean) =>
  isRelay ? relayChannel(relay_id) : taskChannel(id);

const wanted = { amount: 'a number, or decimal text such as "12.50"', text: 'a text or a number' };
const isRating = (event_type: string) => ratingTypes.includes(event_type);
const isInRange = (event_type: string, value: number) =>
  isRating(event_type) ? value >= 1 && value <= 5 : value >= 0;
const rangeOf = (event_type: string) => (isRating(event_type) ? '1 to 5: it does not count' : '0 or more');

type Event = Pick<MarketEvent, 'event_type' | 'payload'>;
type Kind = 'amount' | 'text';

/** The fields that a type can show, each with a kind that it is of in some payload. */
const kindsOf = memoize((type: string): [string, Kind][] => {
  const sample = samplePayload(type, sampleId)!;
  return [...fields].flatMap((field): [string, Kind][] => {
    // another name of a field counts where the first is missing, and a wallet where the nick is
    const first = aliases.find(([, names]) => names.some((name) => name === field))?.[0] ?? 'worker_nick';
    const payloads = [sample, { ...sample, [first]: undefined }, { id: sampleId, relay_id: sampleId }];
    const kind = payloads.map((payload) => kindOf(type, payload, field)).find((one) => one !== undefined);
    return kind ? [[field, kind]] : [];
  });
});

/** Whether each line of a type is shown in the feed. */
const belongsInFeed = memoize((type: string) =>
  targetChannels({ event_type: type, payload: samplePayload(type, sampleId)! }).includes(feedChannel),
);

/** Whether each event of a type opens, closes or is shown in the room of its task or relay. */
const belongsInRoom = memoize((event_type: string) => {
  const payload = samplePayload(event_type, sampleId)!;
  const { open, close } = channelEffects({ event_type, payload });
  const room = subjectRoom(payload, event_type.startsWith('relay.'));
  const named = [open?.name, close?.name, ...targetChannels({ event_type, payload })];
  return room !== undefined && named.includes(room);
});

/** What a field shows next to the rest of the payload; `undefined` if that is nothing. */
function kindOf(event_type: string, payload: MarketPayload, field: string): Kind | undefined {
  // with a value of no kind, with one that fits everywhere, and with a text
  const [nothing, seven, word] = [true, '7', 'seven'].map((value) => {
    const event = { event_type, payload: { ...payload, [field]: value } };
    const { open, ...others } = channelEffects(event);
    // what a room is recorded with has the value as it came
    const shown = open && { ...open, metadata: undefined };
    return JSON.stringify([routeEvent({ event_id: '', source: '', ...event }), shown, others]);
  });
  if (seven === nothing) return undefined;
  return word === nothing ? 'amount' : 'text';
}

const plain = /^[ -~]*[!-~][ -~]*$/;

/** Whether a value shows something. */
function shows(value: unknown, kind: Kind): boolean {
  // most do, and need no cleaning to tell
  if (typeof value === 'number' && Number.isFinite(value)) return true;
  if (kind === 'text' && typeof value === 'string' && plain.test(value)) return true;
  const shown = new ShownFields({ total_bounty: value, title: value });
  return (kind === 'amount' ? shown.totalBounty : shown.title) !== undefined;
}

function memoize<T>(of: (type: string) => T): (type: string) => T {
  const known = new Map<string, T>();
  return (type) => {
    const value = known.get(type) ?? of(type);
    known.set(type, value);
    return value;
  };
}

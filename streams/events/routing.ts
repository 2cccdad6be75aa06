import { cleanText, isManagedChannel } from '../irc-grammar.js';
import { type MarketEvent, type MarketPayload, normalisePayload } from './event.js';
import { anyEventLine, type Screen, ShownFields, shortId, textOf } from './formats.js';

/** Where an event is shown, and the one line that is shown in each of these channels. */
export interface Route {
  /** Channel names with `#`, at least one, none twice; whether they exist is for others to know. */
  targetChannels: string[];
  /** One clean line of at least one character, not yet cut to what fits behind the sender's mask. */
  formattedMessage: string;
}

/** The public feed, and the place of every line that has no other. */
export const feedChannel = '#bounties';

const prefixes = { task: '#task-', relay: '#relay-', geographic: '#city-', category: '#cat-' } as const;

/** What kind of room a line's channel is, when it is one that lines may be the first to need. */
export function roomTypeOf(name: string): keyof typeof prefixes | undefined {
  const types = Object.keys(prefixes) as (keyof typeof prefixes)[];
  return types.find((type) => name.startsWith(prefixes[type]));
}

function channel(prefix: string, part: string): string | undefined {
  const name = `${prefix}${part}`;
  return part !== '' && isManagedChannel(name) ? name : undefined;
}

// Filtered before lower-casing: some foreign capitals become ASCII letters when lower-cased.
function channelSafe(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '').toLowerCase();
}

/** `#task-` and the first 8 characters of a task id; undefined when nothing usable is left of it. */
export function taskChannel(id: unknown): string | undefined {
  return channel(prefixes.task, channelSafe(shortId(id)));
}

/** `#relay-` and the first 8 characters of a relay id; undefined when nothing usable is left of it. */
export function relayChannel(relayId: unknown): string | undefined {
  return channel(prefixes.relay, channelSafe(shortId(relayId)));
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

/** The city of a location: what stands before the first comma, as sent. */
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

type Target = (payload: MarketPayload) => string | undefined;

const bounties: Target = () => feedChannel;
const payments: Target = () => '#payments';
const disputes: Target = () => '#disputes';
const task: Target = (payload) => taskChannel(payload.id);
const relay: Target = (payload) => relayChannel(payload.relay_id);
const city: Target = (payload) => cityChannel(payload.location);
const category: Target = (payload) => categoryChannel(payload.category);

interface Rule {
  types: string[];
  to: Target[];
  line: (shown: ShownFields) => string;
}

const rules: Rule[] = [
  {
    types: ['task.created', 'task.published'],
    to: [bounties, city, category],
    line: (s) =>
      `[NEW] ${s.id} | ${s.title} | $${s.bounty} USDC (${s.network}) | ${s.category} | /claim ${s.id}`,
  },
  {
    types: ['task.assigned'],
    to: [task, bounties],
    line: (s) => `[ASSIGNED] Task ${s.id} | ${s.worker} | Escrow: $${s.escrow} locked`,
  },
  {
    types: ['task.approved', 'task.completed'],
    to: [task, bounties],
    line: (s) => `[COMPLETED] Task ${s.id} | $${s.payout} -> ${s.worker} | TX: ${s.tx}...`,
  },
  {
    types: ['task.rejected'],
    to: [task],
    line: (s) => `[REJECTED] Task ${s.id} | Reason: ${s.reason}`,
  },
  {
    types: ['task.cancelled'],
    to: [task, bounties],
    line: (s) => `[CANCELLED] Task ${s.id} | ${s.cancellationReason}`,
  },
  {
    types: ['task.mutual_cancel'],
    to: [task, bounties],
    line: (s) => `[MUTUAL CANCEL] Task ${s.id} | Agreed by both parties | Escrow refunded`,
  },
  {
    types: ['task.disputed'],
    to: [task, disputes],
    line: (s) => `[DISPUTED] Task ${s.id} | Case: ${s.disputeCase} | Reason: ${s.reason}`,
  },
  {
    types: ['task.expired'],
    to: [bounties],
    line: (s) => `[EXPIRED] Task ${s.id}`,
  },
  {
    types: ['payment.settled', 'payment.escrow_released'],
    to: [task, payments],
    line: (s) => `[PAID] ${s.id} | $${s.payout} USDC (${s.network}) | TX: ${s.tx}...`,
  },
  {
    types: ['rating.created', 'reputation.feedback'],
    to: [task],
    line: (s) => `[RATING] Task ${s.id} | ${s.score}/5 | ${s.quotedComment}`,
  },
  {
    types: ['relay.leg_started'],
    to: [relay],
    line: (s) => `[RELAY] Leg ${s.leg} started | ${s.origin} -> ${s.destination}`,
  },
  {
    types: ['relay.handoff'],
    to: [relay],
    line: (s) => `[HANDOFF] Leg ${s.leg} | ${s.fromWorker} -> ${s.toWorker}`,
  },
  {
    types: ['relay.completed'],
    to: [relay],
    line: (s) => `[RELAY COMPLETE] ${s.idOrRelay} | ${s.legs} legs | $${s.totalBounty} USDC`,
  },
];

const ruleOf = new Map(rules.flatMap((rule) => rule.types.map((type) => [type, rule] as const)));

/**
 * The contract's routing table: the channels of an event and its line. Pure, and never throws whatever the
 * payload holds. `screen` sees each piece of free text as it would be shown and answers what to show instead.
 */
export function routeEvent(event: MarketEvent, screen?: Screen): Route {
  const rule = ruleOf.get(event.event_type);
  if (rule === undefined) {
    return {
      targetChannels: [feedChannel],
      formattedMessage: cleanText(anyEventLine(event.event_type, event.payload, screen)),
    };
  }
  const payload = normalisePayload(event.payload);
  const named = rule.to.map((target) => target(payload)).filter((name) => name !== undefined);
  return {
    targetChannels: named.length > 0 ? [...new Set(named)] : [feedChannel],
    formattedMessage: cleanText(rule.line(new ShownFields(payload, screen))),
  };
}

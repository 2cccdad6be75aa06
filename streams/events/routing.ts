import { cleanText } from '../irc-grammar.js';
import { categoryChannel, cityChannel, feedChannel, relayChannel, taskChannel } from './channel-names.js';
import { type MarketEvent, type MarketPayload, normalisePayload, payloadAliases } from './event.js';
import { anyEventLine, around, joined, type Screen, ShownFields, shownId, textOf } from './formats.js';

/** Where an event is shown, and the one line that is shown in each of these channels. */
export interface Route {
  /** Channel names with `#`: at least one, no duplicates. They need not exist. */
  targetChannels: string[];
  /** One clean line of at least one character, not yet cut to what fits after the sender's mask. */
  formattedMessage: string;
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
  /** The field whose id the line shows; without a value there is nothing to show. */
  id?: 'id' | 'relay_id';
  to: Target[];
  /** The parts of its line; unknown ones are left out. */
  parts: (shown: ShownFields) => (string | undefined)[];
}

const known = (text: string) => (text === '' ? undefined : text);
const about = (head: string, id: string | undefined) => joined(' ', head, id);
const money = (s: ShownFields, dollars: string | undefined) =>
  around('', dollars, ` USDC${around(' (', s.network, ')') ?? ''}`);
const transaction = (s: ShownFields) => around('TX: ', s.tx, '...');
const reason = (s: ShownFields) => around('Reason: ', s.reason);
const payout = (s: ShownFields) => known(joined(' ', s.payout, around('-> ', s.worker)));
const way = (from: string | undefined, to: string | undefined) =>
  known(joined(' ', around('', from, ' ->'), from === undefined ? around('-> ', to) : to));

/** Types of events in which somebody rates somebody, with a score of 1 to 5. */
export const ratingTypes = ['rating.created', 'reputation.feedback'];

const rules: Rule[] = [
  {
    types: ['task.created', 'task.published'],
    id: 'id',
    to: [bounties, city, category],
    parts: (s) => [about('[NEW]', s.id), s.title, money(s, s.bounty), s.category, around('/claim ', s.id)],
  },
  {
    types: ['task.assigned'],
    id: 'id',
    to: [task, bounties],
    parts: (s) => [about('[ASSIGNED] Task', s.id), s.worker, around('Escrow: ', s.escrow, ' locked')],
  },
  {
    types: ['task.approved', 'task.completed'],
    id: 'id',
    to: [task, bounties],
    parts: (s) => [about('[COMPLETED] Task', s.id), payout(s), transaction(s)],
  },
  {
    types: ['task.rejected', 'submission.rejected'],
    id: 'id',
    to: [task],
    parts: (s) => [about('[REJECTED] Task', s.id), reason(s)],
  },
  {
    types: ['task.cancelled'],
    id: 'id',
    to: [task, bounties],
    parts: (s) => [about('[CANCELLED] Task', s.id), s.cancellationReason],
  },
  {
    types: ['task.mutual_cancel'],
    id: 'id',
    to: [task, bounties],
    parts: (s) => [about('[MUTUAL CANCEL] Task', s.id), 'Agreed by both parties', 'Escrow refunded'],
  },
  {
    types: ['task.disputed'],
    id: 'id',
    to: [task, disputes],
    parts: (s) => [about('[DISPUTED] Task', s.id), around('Case: ', s.disputeCase), reason(s)],
  },
  {
    types: ['task.expired'],
    id: 'id',
    to: [bounties],
    parts: (s) => [about('[EXPIRED] Task', s.id)],
  },
  {
    types: ['submission.received'],
    id: 'id',
    to: [task],
    parts: (s) => [about('[SUBMITTED] Task', s.id), s.worker],
  },
  {
    types: ['submission.approved'],
    id: 'id',
    to: [task, bounties],
    parts: (s) => [about('[APPROVED] Task', s.id), payout(s), transaction(s)],
  },
  {
    types: ['payment.settled', 'payment.escrow_released', 'payment.released'],
    id: 'id',
    to: [task, payments],
    parts: (s) => [about('[PAID]', s.id), money(s, s.payout), transaction(s)],
  },
  {
    types: ratingTypes,
    id: 'id',
    to: [task],
    parts: (s) => [about('[RATING] Task', s.id), around('', s.score, '/5'), around('"', s.comment, '"')],
  },
  {
    types: ['reputation.updated'],
    id: 'id',
    to: [task],
    parts: (s) => [about('[REPUTATION] Task', s.id), s.worker, around('Score: ', s.score)],
  },
  {
    types: ['relay.leg_started'],
    to: [relay],
    parts: (s) => [`[RELAY] ${joined(' ', 'Leg', s.leg, 'started')}`, way(s.origin, s.destination)],
  },
  {
    types: ['relay.handoff'],
    to: [relay],
    parts: (s) => [joined(' ', '[HANDOFF]', around('Leg ', s.leg)), way(s.fromWorker, s.toWorker)],
  },
  {
    types: ['relay.completed'],
    id: 'relay_id',
    to: [relay],
    parts: (s) => [
      about('[RELAY COMPLETE]', s.idOrRelay),
      around('', s.legs, ' legs'),
      around('', s.totalBounty, ' USDC'),
    ],
  },
];

const ruleOf = new Map(rules.flatMap((rule) => rule.types.map((type) => [type, rule] as const)));

/**
 * The rows of the routing table: types that are shown in the same way, and the payload field that they need.
 */
export const eventKinds = rules.map(({ types, id: required }) => ({ types, required }));

/** Whether the routing table has a row for a type. */
export function isKnownType(eventType: string): boolean {
  return ruleOf.has(eventType);
}

/**
 * The payload field whose id shows nothing: it is missing and the line needs it, or it would name a relay's room.
 * `undefined` where no field is at fault. A task's id has the name under which it was sent.
 */
export function missingId(event: Pick<MarketEvent, 'event_type' | 'payload'>): string | undefined {
  const rule = ruleOf.get(event.event_type);
  const { payload } = event;
  if (rule?.to.includes(relay) && textOf(payload.relay_id) && !shownId(payload.relay_id)) return 'relay_id';
  const shown = new ShownFields(normalisePayload(payload));
  const id = rule?.id === 'relay_id' ? shown.idOrRelay : shown.id;
  if (id !== undefined) return undefined;
  return rule?.id === 'id' ? nameOfId(payload) : rule?.id;
}

function nameOfId(payload: MarketPayload): string {
  const names = ['id', ...payloadAliases.id];
  return names.find((name) => (payload[name] ?? undefined) !== undefined) ?? 'id';
}

/**
 * The routing table: the contract's rows, and those for what else producers send. Gives the channels of an
 * event and its line. Pure, and never throws whatever the payload holds. `screen` sees each piece of free
 * text as it would be shown, and answers what to show instead. An event without a row shows only these `fields`
 * of the payload are shown; all of them if `fields` is empty.
 */
export function routeEvent(event: MarketEvent, screen?: Screen, fields: readonly string[] = []): Route {
  const rule = ruleOf.get(event.event_type);
  if (rule === undefined) {
    const payload = fields.length === 0 ? event.payload : only(event.payload, fields);
    return {
      targetChannels: [feedChannel],
      formattedMessage: cleanText(anyEventLine(event.event_type, payload, screen)),
    };
  }
  const payload = normalisePayload(event.payload);
  return {
    targetChannels: targetsOf(rule, payload),
    formattedMessage: cleanText(joined(' | ', ...rule.parts(new ShownFields(payload, screen)))),
  };
}

/** The channels of an event, as `routeEvent` tells them. */
export function targetChannels({
  event_type,
  payload,
}: Pick<MarketEvent, 'event_type' | 'payload'>): string[] {
  const rule = ruleOf.get(event_type);
  return rule ? targetsOf(rule, normalisePayload(payload)) : [feedChannel];
}

function targetsOf(rule: Rule, payload: MarketPayload): string[] {
  const named = rule.to.map((target) => target(payload)).filter((name) => name !== undefined);
  return named.length > 0 ? [...new Set(named)] : [feedChannel];
}

function only(payload: MarketPayload, fields: readonly string[]): MarketPayload {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => fields.includes(name)));
}

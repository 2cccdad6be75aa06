import { z } from 'zod';
import { casefold, cleanText, cutToCharacters, isNick } from '../irc-grammar.js';
import {
  categoryChannel,
  cityChannel,
  cityOf,
  feedChannel,
  relayChannel,
  taskChannel,
} from './channel-names.js';
import { type MarketEvent, type MarketPayload, normalisePayload } from './event.js';
import { anyEventLine, missing, type Screen, ShownFields, textOf } from './formats.js';

/** Where an event is shown, and the one line that is shown in each of these channels. */
export interface Route {
  /** Channel names with `#`, at least one, none twice; whether they exist is for others to know. */
  targetChannels: string[];
  /** One clean line of at least one character, not yet cut to what fits behind the sender's mask. */
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
  /** The field whose id its line shows; without one there is nothing to show. */
  id?: 'id' | 'relay_id';
  to: Target[];
  line: (shown: ShownFields) => string;
}

const rules: Rule[] = [
  {
    types: ['task.created', 'task.published'],
    id: 'id',
    to: [bounties, city, category],
    line: (s) =>
      `[NEW] ${s.id} | ${s.title} | $${s.bounty} USDC (${s.network}) | ${s.category} | /claim ${s.id}`,
  },
  {
    types: ['task.assigned'],
    id: 'id',
    to: [task, bounties],
    line: (s) => `[ASSIGNED] Task ${s.id} | ${s.worker} | Escrow: $${s.escrow} locked`,
  },
  {
    types: ['task.approved', 'task.completed'],
    id: 'id',
    to: [task, bounties],
    line: (s) => `[COMPLETED] Task ${s.id} | $${s.payout} -> ${s.worker} | TX: ${s.tx}...`,
  },
  {
    types: ['task.rejected', 'submission.rejected'],
    id: 'id',
    to: [task],
    line: (s) => `[REJECTED] Task ${s.id} | Reason: ${s.reason}`,
  },
  {
    types: ['task.cancelled'],
    id: 'id',
    to: [task, bounties],
    line: (s) => `[CANCELLED] Task ${s.id} | ${s.cancellationReason}`,
  },
  {
    types: ['task.mutual_cancel'],
    id: 'id',
    to: [task, bounties],
    line: (s) => `[MUTUAL CANCEL] Task ${s.id} | Agreed by both parties | Escrow refunded`,
  },
  {
    types: ['task.disputed'],
    id: 'id',
    to: [task, disputes],
    line: (s) => `[DISPUTED] Task ${s.id} | Case: ${s.disputeCase} | Reason: ${s.reason}`,
  },
  {
    types: ['task.expired'],
    id: 'id',
    to: [bounties],
    line: (s) => `[EXPIRED] Task ${s.id}`,
  },
  {
    types: ['payment.settled', 'payment.escrow_released', 'payment.released'],
    id: 'id',
    to: [task, payments],
    line: (s) => `[PAID] ${s.id} | $${s.payout} USDC (${s.network}) | TX: ${s.tx}...`,
  },
  {
    types: ['rating.created', 'reputation.feedback'],
    id: 'id',
    to: [task],
    line: (s) => `[RATING] Task ${s.id} | ${s.score}/5 | ${s.quotedComment}`,
  },
  {
    types: ['submission.received'],
    id: 'id',
    to: [task],
    line: (s) => `[SUBMITTED] Task ${s.id} | ${s.worker}`,
  },
  {
    types: ['submission.approved'],
    id: 'id',
    to: [task, bounties],
    line: (s) => `[APPROVED] Task ${s.id} | $${s.payout} -> ${s.worker} | TX: ${s.tx}...`,
  },
  {
    types: ['reputation.updated'],
    id: 'id',
    to: [task],
    line: (s) => `[REPUTATION] Task ${s.id} | ${s.worker} | Score: ${s.score}`,
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
    id: 'relay_id',
    to: [relay],
    line: (s) => `[RELAY COMPLETE] ${s.idOrRelay} | ${s.legs} legs | $${s.totalBounty} USDC`,
  },
];

const ruleOf = new Map(rules.flatMap((rule) => rule.types.map((type) => [type, rule] as const)));

/** Whether the routing table has a row for a type. */
export function isKnownType(eventType: string): boolean {
  return ruleOf.has(eventType);
}

/** The field of the payload without which an event's line would show no id; `undefined` where nothing is missing. */
export function missingId(event: Pick<MarketEvent, 'event_type' | 'payload'>): 'id' | 'relay_id' | undefined {
  const field = ruleOf.get(event.event_type)?.id;
  const shown = new ShownFields(normalisePayload(event.payload));
  const id = field === 'relay_id' ? shown.idOrRelay : shown.id;
  return id === missing ? field : undefined;
}

/**
 * The routing table, the contract's and what else producers send: the channels of an event and its line. Pure, and never throws whatever the
 * payload holds. `screen` sees each piece of free text as it would be shown and answers what to show instead. Of an
 * event without a row, only these `fields` of the payload are shown; all of them where none is named.
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
  const named = rule.to.map((target) => target(payload)).filter((name) => name !== undefined);
  return {
    targetChannels: named.length > 0 ? [...new Set(named)] : [feedChannel],
    formattedMessage: cleanText(rule.line(new ShownFields(payload, screen))),
  };
}

function only(payload: MarketPayload, fields: readonly string[]): MarketPayload {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => fields.includes(name)));
}

const RoomOpening = z.object({
  name: z.string(),
  type: z.enum(['task', 'geographic']),
  modes: z.string(),
  topic: z.string(),
  invite_list: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
});

/** A room in the form in which an event has it opened. */
export type RoomOpening = z.output<typeof RoomOpening>;

/** What an event does to channels beside being shown in some; nothing, for most. */
export const ChannelEffects = z.object({
  /** This room is opened; where it is there already, those who are named are asked in. */
  open: RoomOpening.optional(),
  /** The room of a task or a relay that has ended: archived with the reason, or in its own time where there is none. */
  close: z.object({ name: z.string(), reason: z.string().nullable() }).optional(),
});

export type ChannelEffects = z.output<typeof ChannelEffects>;

/** A reason stands in the channel's topic, which has room for some 300 bytes. */
const reasonCharacters = 200;
const cityCharacters = 60;

/**
 * What is recorded of an event's effects, or for a fact from before they were recorded what would have been.
 * `screen` sees each piece of free text that is to stand in a topic and answers what to show instead.
 */
export function effectsOf(
  event: Pick<MarketEvent, 'event_type' | 'payload'> & { effects?: ChannelEffects | undefined },
  screen?: Screen,
): ChannelEffects {
  return event.effects ?? channelEffects(event, screen);
}

/** The contract's channel automation. Pure, and never throws whatever the payload holds. */
export function channelEffects(
  event: Pick<MarketEvent, 'event_type' | 'payload'>,
  screen?: Screen,
): ChannelEffects {
  const payload = normalisePayload(event.payload);
  const shown = new ShownFields(payload, screen);
  switch (event.event_type) {
    case 'task.assigned':
      return openTask(payload, shown);
    case 'task.created':
    case 'task.published':
      return openCity(payload, shown);
    case 'task.approved':
      return closeTask(payload, 'Task approved');
    case 'task.completed':
      return closeTask(payload, 'Task completed');
    case 'submission.approved':
      return closeTask(payload, 'Submission approved');
    case 'task.cancelled':
    case 'task.mutual_cancel': {
      const given = cutToCharacters(shown.cancellationReason, reasonCharacters).trimEnd();
      return closeTask(payload, given === '-' ? 'Task cancelled' : given);
    }
    case 'task.expired':
      return closeTask(payload, null);
    case 'relay.completed':
      return close(relayChannel(payload.relay_id), 'Relay completed');
    default:
      return {};
  }
}

function openTask(payload: MarketPayload, shown: ShownFields): ChannelEffects {
  const name = taskChannel(payload.id);
  if (!name) return {};
  const { id, title, bounty } = shown;
  return {
    open: {
      name,
      type: 'task',
      modes: '+int',
      topic: `Task ${id} | ${title} | $${bounty} USDC | Status: ASSIGNED`,
      invite_list: nicksOf(payload.publisher_nick, payload.worker_nick),
      metadata: {
        task_id: textOf(payload.id),
        bounty: payload.bounty_usdc ?? null,
        category: textOf(payload.category) ?? null,
      },
    },
  };
}

function openCity(payload: MarketPayload, shown: ShownFields): ChannelEffects {
  const name = cityChannel(payload.location);
  if (!name) return {};
  const city = shown.freeText(cityOf(payload.location), cityCharacters);
  return {
    open: {
      name,
      type: 'geographic',
      modes: '+nt',
      topic: `Tasks in ${city} | /tasks --near ${city}`,
      invite_list: [],
      metadata: { city },
    },
  };
}

function closeTask(payload: MarketPayload, reason: string | null): ChannelEffects {
  return close(taskChannel(payload.id), reason);
}

function close(name: string | undefined, reason: string | null): ChannelEffects {
  return name ? { close: { name, reason } } : {};
}

/** The same room with the bot among those who are asked in that posts its lines: nobody else enters a task's room. */
export function withEventBot<Room extends { type: string; invite_list: string[] }>(
  room: Room,
  eventBot: string,
): Room {
  if (room.type !== 'task') return room;
  return { ...room, invite_list: nicksOf(...room.invite_list, eventBot) };
}

/** Those of the values that are nicks, each person once. */
function nicksOf(...values: unknown[]): string[] {
  const nicks = values.map(textOf).filter((nick) => nick !== undefined && isNick(nick)) as string[];
  return [...new Map(nicks.map((nick) => [casefold(nick), nick])).values()];
}

import { z } from 'zod';
import { casefold, cutToCharacters, isNick } from '../irc-grammar.js';
import { cityChannel, cityOf, relayChannel, taskChannel } from './channel-names.js';
import { type MarketEvent, type MarketPayload, normalisePayload } from './event.js';
import { around, joined, type Screen, ShownFields, textOf } from './formats.js';

const RoomOpening = z.object({
  name: z.string(),
  type: z.enum(['task', 'geographic']),
  modes: z.string(),
  topic: z.string(),
  invite_list: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
});

/** A room, in the form in which an event asks for it. */
export type RoomOpening = z.output<typeof RoomOpening>;

/** What an event does to channels, besides being shown in some. For most events, nothing. */
export const ChannelEffects = z.object({
  /** The room to open. If it exists already, those who are named are invited. */
  open: RoomOpening.optional(),
  /**
   * The room of a task or a relay that has ended. It is archived with the reason; without one, it is archived
   * in its own time.
   */
  close: z.object({ name: z.string(), reason: z.string().nullable() }).optional(),
});

export type ChannelEffects = z.output<typeof ChannelEffects>;

/** The topic of the channel shows the reason. A topic has room for some 300 bytes. */
const reasonCharacters = 200;
const cityCharacters = 60;

/**
 * The recorded effects of an event. For a fact from before they were recorded, they are computed. `screen`
 * sees each piece of free text for a topic, and answers what to show instead.
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
      const given = cutToCharacters(shown.cancellationReason ?? '', reasonCharacters).trimEnd();
      return closeTask(payload, given || 'Task cancelled');
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
      topic: joined(' | ', joined(' ', 'Task', id), title, around('', bounty, ' USDC'), 'Status: ASSIGNED'),
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
  const city = shown.freeText(cityOf(payload.location), cityCharacters) ?? name;
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

/**
 * The same room, with the bot that posts its lines among the invited: strangers cannot enter a task's room.
 */
export function withEventBot<Room extends { type: string; invite_list: string[] }>(
  room: Room,
  eventBot: string,
): Room {
  if (room.type !== 'task') return room;
  return { ...room, invite_list: nicksOf(...room.invite_list, eventBot) };
}

/** The values that are nicks, each person once. */
function nicksOf(...values: unknown[]): string[] {
  const nicks = values.map(textOf).filter((nick) => nick !== undefined && isNick(nick)) as string[];
  return [...new Map(nicks.map((nick) => [casefold(nick), nick])).values()];
}

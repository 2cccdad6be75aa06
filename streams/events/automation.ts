import { casefold, cutToCharacters, isNick } from '../irc-grammar.js';
import { type MarketEvent, type MarketPayload, normalisePayload } from './event.js';
import { type Screen, ShownFields, textOf } from './formats.js';
import { cityChannel, cityOf, taskChannel } from './routing.js';

/** What an event wants to become of a channel. */
export type ChannelAction =
  | {
      is: 'create';
      name: string;
      type: 'task' | 'geographic';
      modes: string;
      topic: string;
      invite_list: string[];
      metadata: Record<string, unknown>;
    }
  | { is: 'archive'; name: string; reason: string };

/** A reason stands in the channel's topic, which has room for some 300 bytes. */
const reasonCharacters = 200;
const cityCharacters = 60;

/**
 * The contract's channel automation: what an event wants done, `undefined` for most. Pure, and never throws
 * whatever the payload holds. `eventBot` is the nick that will post the task's lines.
 */
export function channelActionOf(
  event: MarketEvent,
  eventBot: string,
  screen?: Screen,
): ChannelAction | undefined {
  const payload = normalisePayload(event.payload);
  const shown = new ShownFields(payload, screen);
  switch (event.event_type) {
    case 'task.assigned':
      return createTask(payload, shown, eventBot);
    case 'task.created':
    case 'task.published':
      return createCity(payload, shown);
    case 'task.approved':
      return archiveTask(payload, 'Task approved');
    case 'task.completed':
      return archiveTask(payload, 'Task completed');
    case 'task.cancelled':
    case 'task.mutual_cancel': {
      const given = cutToCharacters(shown.cancellationReason, reasonCharacters).trimEnd();
      return archiveTask(payload, given === '-' ? 'Task cancelled' : given);
    }
    default:
      return undefined;
  }
}

function createTask(payload: MarketPayload, shown: ShownFields, eventBot: string): ChannelAction | undefined {
  const name = taskChannel(payload.id);
  if (!name) return undefined;
  const { id, title, bounty } = shown;
  return {
    is: 'create',
    name,
    type: 'task',
    modes: '+int',
    topic: `Task ${id} | ${title} | $${bounty} USDC | Status: ASSIGNED`,
    invite_list: nicksOf(payload.publisher_nick, payload.worker_nick, eventBot),
    metadata: {
      task_id: textOf(payload.id),
      bounty: payload.bounty_usdc ?? null,
      category: textOf(payload.category) ?? null,
    },
  };
}

function createCity(payload: MarketPayload, shown: ShownFields): ChannelAction | undefined {
  const name = cityChannel(payload.location);
  if (!name) return undefined;
  const city = shown.freeText(cityOf(payload.location), cityCharacters);
  return {
    is: 'create',
    name,
    type: 'geographic',
    modes: '+nt',
    topic: `Tasks in ${city} | /tasks --near ${city}`,
    invite_list: [],
    metadata: { city },
  };
}

function archiveTask(payload: MarketPayload, reason: string): ChannelAction | undefined {
  const name = taskChannel(payload.id);
  return name ? { is: 'archive', name, reason } : undefined;
}

/** Those of the values that are nicks, each person once. */
function nicksOf(...values: unknown[]): string[] {
  const nicks = values.map(textOf).filter((nick) => nick !== undefined && isNick(nick)) as string[];
  return [...new Map(nicks.map((nick) => [casefold(nick), nick])).values()];
}

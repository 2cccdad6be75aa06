import { knownEvent, queueStatistics } from '../../../projections/delivery.js';
import { channelSubject, channels } from '../../../streams/channels/index.js';
import type { Log, Position } from '../../../streams/core/index.js';
import {
  channelEffects,
  eventToken,
  feedChannel,
  MarketEvent,
  market,
  marketSubject,
  roomTypeOf,
  routeEvent,
} from '../../../streams/events/index.js';
import { Screening, type Thresholds } from '../../../streams/moderation/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import { parseInput } from '../core/validation.js';
import { type IrcState, ircStateView, troubleView } from '../network/irc-state.js';
import { type IrcReadOptions, ircReadRoutes, ircReads } from '../network/service.js';
import type { ConflictingEvents } from './conflicting-events.js';

export type { IrcState } from '../network/irc-state.js';

export const bridgeRoutes = {
  receiveEvent: { method: 'POST', path: '/api/em/event' },
  queueStatistics: { method: 'GET', path: '/api/em/queue-stats' },
  ...ircReadRoutes,
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the bridge works with. */
export interface BridgeOptions extends IrcReadOptions {
  log: Log;
  /** Own source identifier: events that carry it came from here and are not taken back. */
  source: string;
  webhookSecretConfigured: boolean;
  /** From which points on free text is withheld. */
  thresholds: Thresholds;
  /** Told of known events that came again with another body. */
  conflicting: ConflictingEvents;
  /** State of the marketplace bot's connection, in whichever process it is. */
  irc: () => Promise<IrcState | undefined>;
  startedAt: Date;
}

/** Rooms that are not opened again for a line once they were deleted. */
const shortLived = new Set<string | undefined>(['task', 'relay']);

/** Rooms whose opening is remembered at most: each for the moment until the channel service has recorded it. */
const maxOpening = 1_000;

/** The bridge between the marketplace and the network: takes events, tells how the queue stands and what was said. */
export function createBridge(options: BridgeOptions): Service<typeof bridgeRoutes> {
  const { log, readModels } = options;
  let appended: Position | undefined;
  /** When events were accepted that have these rooms opened, by the log's clock; the latest last. */
  const opening = new Map<string, number>();

  async function receiveEvent({ body }: Input = {}): Promise<Reply> {
    const event = parseInput(MarketEvent, body, 'invalid_event');
    if (event.source === options.source) {
      return { status: 200, body: { status: 'ignored', queued: false, reason: 'anti-echo' } };
    }
    const { event_id } = event;
    const token = eventToken(event_id);
    // what a topic withholds is no part of the line, and so no part of what is told of it
    const effects = channelEffects(event, new Screening(options.thresholds).screen);
    const screening = new Screening(options.thresholds);
    const { targetChannels, formattedMessage: formatted_message } = routeEvent(event, screening.screen);
    const opens = effects.open?.name;
    const target_channels = await openTargets(targetChannels, opens);
    const withheld = screening.withheld ? { withheld: screening.withheld } : {};
    const data = { ...event, target_channels, formatted_message, effects, ...withheld };
    const position = await log.appendOnce(
      market,
      marketSubject(token),
      { type: 'event.received', data },
      { by: event.source },
    );
    if (position) {
      appended = position;
      if (opens !== undefined) noteOpening(opens);
      return {
        status: 202,
        body: { status: 'accepted', queued: true, event_id, target_channels, formatted_message },
      };
    }
    const delivery_status = await statusOf(event);
    return {
      status: 200,
      body: { status: 'already_processed', queued: false, duplicate: true, event_id, delivery_status },
    };
  }

  /** Without the rooms of tasks and relays that were deleted: a late line opens none again but the one that it `opens`. */
  async function openTargets(targets: string[], opens: string | undefined): Promise<string[]> {
    const isDeleted = await Promise.all(
      targets.map(async (name) => {
        if (name === opens || !shortLived.has(roomTypeOf(name))) return false;
        const last = await log.last(channels, channelSubject(name));
        // after its deletion an event may have had it opened again, of which the channel service does not know yet
        return last?.type === 'channel.deleted' && !(Number(opening.get(name)) > last.at.getTime());
      }),
    );
    const open = targets.filter((_, index) => !isDeleted[index]);
    return open.length > 0 ? open : [feedChannel];
  }

  function noteOpening(name: string): void {
    opening.delete(name);
    opening.set(name, log.now().getTime());
    if (opening.size > maxOpening) opening.delete(opening.keys().next().value!);
  }

  /**
   * Status of a known event; the read model may be behind or away, and the answer does not wait for it. Where it has the
   * event it also tells whether this one is another.
   */
  async function statusOf(event: MarketEvent): Promise<string | null> {
    try {
      const known = await readModels.read('delivery_queue', (sql, schema) => knownEvent(sql, schema, event));
      if (known?.isSame === false) options.conflicting.note(event.event_id);
      return known?.status ?? 'pending';
    } catch {
      return null;
    }
  }

  async function statistics(): Promise<object> {
    const queue = await readModels.read(
      'delivery_queue',
      (sql, schema) => queueStatistics(sql, schema, log.now()),
      appended,
    );
    return { ...queue, webhook_secret_configured: options.webhookSecretConfigured };
  }

  return {
    ...ircReads(options),
    receiveEvent,
    queueStatistics: async () => ({ status: 200, body: await statistics() }),
    health: async () => {
      const irc = await options.irc().catch(() => undefined);
      const recorder = await options.recorder().catch(() => undefined);
      const queue = await statistics().catch(() => undefined);
      return {
        status: 200,
        body: {
          status: irc?.connected && recorder?.connected && log.connected && queue ? 'ok' : 'degraded',
          ...(irc ? { irc: ircStateView(irc) } : {}),
          ...(recorder ? { recorder: ircStateView(recorder) } : {}),
          ...troubleView(irc, recorder),
          ...(queue ? { em_queue: queue } : {}),
          uptime: Math.round((Date.now() - options.startedAt.getTime()) / 1000),
        },
      };
    },
  };
}

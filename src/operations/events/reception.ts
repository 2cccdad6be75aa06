import { LRUCache } from 'lru-cache';
import { knownEvent } from '../../../projections/delivery/queries.js';
import { channelSubject, channels } from '../../../streams/channels/index.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import {
  channelEffects,
  eventToken,
  feedChannel,
  isKnownType,
  type MarketEvent,
  market,
  marketSubject,
  missingId,
  roomTypeOf,
  routeEvent,
} from '../../../streams/events/index.js';
import { Screening, type Thresholds } from '../../../streams/moderation/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { ConflictingEvents } from './conflicting-events.js';

/** What events are received with. */
export interface ReceptionOptions {
  log: Log;
  rows: Pick<OwnReadModel, 'wrote'>;
  readModels: ReadModels;
  /** Own source identifier: events that carry it came from here and are not taken back. */
  source: string;
  /** From which points on free text is withheld. */
  thresholds: Thresholds;
  /** What becomes of events of unknown types, and which fields of their payload may be shown; all where none is named. */
  unknown?: { events: 'show' | 'ignore' | 'reject'; fields: readonly string[] };
  /** Told of known events that came again with another body. */
  conflicting: ConflictingEvents;
}

/** How an event was received, in the words of the contract. */
export type Received =
  | {
      status: 'accepted';
      queued: true;
      event_id: string;
      target_channels: string[];
      formatted_message: string;
    }
  | {
      status: 'already_processed';
      queued: false;
      duplicate: true;
      event_id: string;
      delivery_status: string | null;
    }
  | { status: 'ignored'; queued: false; reason: 'anti-echo' | 'unknown-type' };

/** Rooms that are not opened again for a line once they were deleted. */
const shortLived = new Set<string | undefined>(['task', 'relay']);
const asInContract = { events: 'show', fields: [] } as const;
/** Rooms whose opening is remembered at most: each for the moment until the channel service has recorded it. */
const mostOpening = 1_000;

/** Takes events of the marketplace: each is on the log, once, with its channels and its line, before it is answered. */
export class Reception {
  readonly #options: ReceptionOptions;
  /** When events were accepted that have these rooms opened, by the log's clock. */
  readonly #opening = new LRUCache<string, number>({ max: mostOpening });

  constructor(options: ReceptionOptions) {
    this.#options = options;
  }

  async receive(event: MarketEvent): Promise<Received> {
    const { log, rows, source, thresholds, unknown = asInContract } = this.#options;
    if (event.source === source) return { status: 'ignored', queued: false, reason: 'anti-echo' };
    const { event_id } = event;
    const subject = marketSubject(eventToken(event_id));
    const fault = this.#faultOf(event);
    if (fault) {
      // what was accepted once is known, whatever is asked of new events
      if (await log.last(market, subject)) return await this.#known(event);
      if (fault.isIgnored) return { status: 'ignored', queued: false, reason: 'unknown-type' };
      throw new Refusal('invalid_event', fault.message, { details: [fault] });
    }
    // what a topic withholds is no part of the line, and so no part of what is told of it
    const effects = new Screening(thresholds).screened(
      (screen) => channelEffects(event, screen),
      ({ open, close }) => `${open?.topic ?? ''} ${close?.reason ?? ''}`,
    );
    const screening = new Screening(thresholds);
    const { targetChannels, formattedMessage: formatted_message } = screening.screened(
      (screen) => routeEvent(event, screen, unknown.fields),
      (route) => route.formattedMessage,
    );
    const opens = effects.open?.name;
    const target_channels = await this.#openTargets(targetChannels, opens);
    const withheld = screening.withheld ? { withheld: screening.withheld } : {};
    const data = { ...event, target_channels, formatted_message, effects, ...withheld };
    const position = await log.appendOnce(
      market,
      subject,
      { type: 'event.received', data },
      { by: event.source },
    );
    if (!position) return await this.#known(event);
    rows.wrote(position);
    if (opens !== undefined) this.#opening.set(opens, log.now().getTime());
    return { status: 'accepted', queued: true, event_id, target_channels, formatted_message };
  }

  /** Why an event is not taken: an id that its line would miss, or a type that is not shown here. */
  #faultOf(event: MarketEvent): { path: string; message: string; isIgnored?: true } | undefined {
    const { events } = this.#options.unknown ?? asInContract;
    const { event_type } = event;
    if (events !== 'show' && !isKnownType(event_type)) {
      const message = `event_type ${event_type} is not one that is shown here`;
      return { path: 'event_type', message, ...(events === 'ignore' ? { isIgnored: true } : {}) };
    }
    const field = missingId(event);
    if (!field) return undefined;
    const path = `payload.${field}`;
    return {
      path,
      message: `${path} is missing, or shows nothing: ${event_type} is about the thing that it names`,
    };
  }

  async #known(event: MarketEvent): Promise<Received> {
    const { event_id } = event;
    const delivery_status = await this.#statusOf(event);
    return { status: 'already_processed', queued: false, duplicate: true, event_id, delivery_status };
  }

  /** Without the rooms of tasks and relays that were deleted: a late line opens none again but the one that it `opens`. */
  async #openTargets(targets: string[], opens: string | undefined): Promise<string[]> {
    // most events are shown in channels that last, and nothing is asked of the log for them
    if (!targets.some((name) => name !== opens && shortLived.has(roomTypeOf(name)))) return targets;
    const { log } = this.#options;
    const isDeleted = await Promise.all(
      targets.map(async (name) => {
        if (name === opens || !shortLived.has(roomTypeOf(name))) return false;
        const last = await log.last(channels, channelSubject(name));
        // after its deletion an event may have had it opened again, of which the channel service does not know yet
        return last?.type === 'channel.deleted' && !(Number(this.#opening.get(name)) > last.at.getTime());
      }),
    );
    const open = targets.filter((_, index) => !isDeleted[index]);
    return open.length > 0 ? open : [feedChannel];
  }

  /**
   * Status of a known event; the read model may be behind or away, and the answer does not wait for it. Where it has the
   * event it also tells whether this one is another.
   */
  async #statusOf(event: MarketEvent): Promise<string | null> {
    const { readModels, conflicting } = this.#options;
    try {
      const known = await readModels.read('delivery_queue', (sql, schema) => knownEvent(sql, schema, event));
      if (known?.isSame === false) conflicting.note(event.event_id);
      return known?.status ?? 'pending';
    } catch {
      return null;
    }
  }
}

import { knownEvent } from '../../../projections/delivery/queries.js';
import { boundedCache, isExpected, type Log, Refusal } from '../../../streams/core/index.js';
import {
  type ChannelEffects,
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
  sampleTypes,
  testChannel,
} from '../../../streams/events/index.js';
import { Screening, type Thresholds } from '../../../streams/moderation/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { nearestWord } from '../../words/spelling.js';
import type { ConflictingEvents } from './conflicting-events.js';
import type { DeletedRooms } from './deleted-rooms.js';
import type { Openings } from './openings.js';
import type { Owners } from './owners.js';
import { type Warning, warningsOf } from './warnings.js';

/** What events are received with. */
export interface ReceptionOptions {
  log: Log;
  rows: Pick<OwnReadModel, 'wrote'>;
  readModels: ReadModels;
  /** Our own source identifier: events that carry it came from here and are not accepted back. */
  source: string;
  /** The points from which free text is withheld. */
  thresholds: Thresholds;
  /**
   * What to do with events of unknown types, and which fields of their payload may be shown; all if the list
   * is empty.
   */
  unknown?: { events: 'show' | 'ignore' | 'reject'; fields: readonly string[] };
  /** Which producer owns which task; absent if there is only one producer. */
  owners?: Owners | undefined;
  /** Which rooms are deleted, as the channel service recorded it. */
  deletedRooms: Pick<DeletedRooms, 'deletedAt'>;
  /** Which rooms other processes have accepted events for that open them; absent if there is no other process. */
  openings?: Openings;
  /** Notes known events that came again with another body. */
  conflicting: ConflictingEvents;
}

/** Whether a channel has its name from text that somebody wrote, and not from a few characters of an id. */
function isNamedByText(name: string): boolean {
  const type = roomTypeOf(name);
  return type === 'geographic' || type === 'category';
}

/** How an event was received, in the words of the contract. */
export type Received =
  | {
      status: 'accepted';
      queued: true;
      event_id: string;
      target_channels: string[];
      formatted_message: string;
      warnings?: Warning[];
    }
  | {
      status: 'already_processed';
      queued: false;
      duplicate: true;
      event_id: string;
      delivery_status: string | null;
      warnings?: Warning[];
    }
  | Ignored;

type Ignored = { status: 'ignored'; queued: false; reason: 'anti-echo' | 'unknown-type' };

/** What would become of an event. */
export type TriedOut = { status: 'dry_run'; queued: false } & (
  | { would_be: 'ignored'; reason: Ignored['reason'] }
  | {
      would_be: 'already_processed';
      duplicate: true;
      event_id: string;
      delivery_status: string | null;
      warnings?: Warning[];
    }
  | {
      would_be: 'accepted';
      event_id: string;
      target_channels: string[];
      formatted_message: string;
      /** Points (0 to 100) and rules of the worst text, if something was left out of the line. */
      withheld?: { score: number; patterns: string };
      /** The room that it would open, with its topic. */
      opens?: { name: string; topic: string };
      /** The room that it would close. */
      closes?: string;
      /** What its producer may not have meant. */
      warnings?: Warning[];
    }
);

/** Why an event is not accepted: the faulty field. `ignored`: that is no fault of the producer. */
interface Fault {
  path: string;
  message: string;
  ignored?: Ignored['reason'];
}

const otherBody: Warning = {
  path: 'event_id',
  message: 'event_id is known with another body: the first one counts, and this one is not stored',
};
/** Rooms that are not opened again for a line once they were deleted. */
const shortLived = new Set<string | undefined>(['task', 'relay']);
/** Ids of tests begin with it, so that no test takes the id of an event. */
const testIds = 'test-';
const asInContract = { events: 'show', fields: [] } as const;
/**
 * Room openings that are remembered at most. Each is needed only until the channel service has recorded it.
 */
const mostOpening = 1_000;

/**
 * Accepts events of the marketplace. Each is on the log, once, with its channels and its line, before it is
 * answered.
 */
export class Reception {
  readonly #options: ReceptionOptions;
  /** When events were accepted that open these rooms, by the log's clock. */
  readonly #opening = boundedCache<string, number>(mostOpening);

  constructor(options: ReceptionOptions) {
    this.#options = options;
  }

  async receive(event: MarketEvent): Promise<Received> {
    const { log, rows, owners } = this.#options;
    const subject = marketSubject(eventToken(event.event_id));
    const refused = this.#faultOf(event);
    if (refused) {
      const ignored = await this.#ignored(event, refused);
      return ignored ?? (await this.#known(event));
    }
    if (owners) await owners.claim(event, async () => (await this.#accepted(event.event_id)) !== undefined);
    const test = this.#isTest(event) ? { test: true as const } : {};
    // node 20 would give each object of a spread a form of its own, which makes all that reads it slow
    const data = Object.assign({}, event, await this.#shown(event), test);
    const { event_id, target_channels, formatted_message, effects } = data;
    const position = await log.appendOnce(
      market,
      subject,
      { type: 'event.received', data },
      { by: event.source },
    );
    if (!position) return await this.#known(event);
    rows.wrote(position);
    const opens = effects.open?.name;
    if (opens !== undefined) await this.#noteOpening(opens);
    const warnings = warningsOf(event, false);
    const answer = {
      status: 'accepted' as const,
      queued: true as const,
      event_id,
      target_channels,
      formatted_message,
    };
    return warnings.length > 0 ? { ...answer, warnings } : answer;
  }

  /** Notes that the event opens a room, so that lines that follow it go there although the room was deleted before. */
  async #noteOpening(room: string): Promise<void> {
    const { log, deletedRooms, openings } = this.#options;
    this.#opening.set(room, log.now().getTime());
    if (!openings) return;
    try {
      if (await deletedRooms.deletedAt(room)) await openings.note(room);
    } catch (error) {
      // the event is accepted, and this process knows
      if (!isExpected(error)) throw error;
    }
  }

  /** Whether an event was accepted since then that opens a room. */
  async #isOpenedSince(room: string, then: Date): Promise<boolean> {
    if (Number(this.#opening.get(room)) > then.getTime()) return true;
    const noted = await this.#options.openings?.last(room);
    return noted !== undefined && noted > then;
  }

  /** What would happen to an event. Nothing is stored or counted. Throws what `receive` would. */
  async tryOut(event: MarketEvent): Promise<TriedOut> {
    const { owners } = this.#options;
    const { event_id } = event;
    const about = { status: 'dry_run' as const, queued: false as const };
    const refused = this.#faultOf(event);
    const ignored = refused && (await this.#ignored(event, refused));
    if (ignored) return { ...about, would_be: 'ignored', reason: ignored.reason };
    if (owners) await owners.check(event);
    if (await this.#accepted(event_id)) {
      const { status: would_be, ...known } = await this.#known(event, false);
      return { ...known, ...about, would_be };
    }
    const { effects, ...shown } = await this.#shown(event);
    const { open, close } = effects;
    const warnings = warningsOf(event, true);
    return {
      ...about,
      would_be: 'accepted',
      event_id,
      ...shown,
      ...(open ? { opens: { name: open.name, topic: open.topic } } : {}),
      ...(close ? { closes: close.name } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  }

  /** How an event is shown, and what it does to channels. */
  async #shown(event: MarketEvent) {
    const { thresholds, unknown = asInContract } = this.#options;
    const isTest = this.#isTest(event);
    // text withheld from a topic is not part of the line, so it is not part of the line's report
    const { open, ...others } = new Screening(thresholds).screened(
      (screen) => (isTest ? {} : channelEffects(event, screen)),
      (effects: ChannelEffects) => `${effects.open?.topic ?? ''} ${effects.close?.reason ?? ''}`,
    );
    const screening = new Screening(thresholds);
    const { targetChannels, formattedMessage: formatted_message } = screening.screened(
      (screen) => routeEvent(event, screen, unknown.fields),
      (route) => route.formattedMessage,
    );
    // everybody reads names of channels, too
    const isFit = (name: string) => !isNamedByText(name) || screening.screen(name) === name;
    const fit = targetChannels.filter(isFit);
    const targets = fit.length > 0 ? fit : [feedChannel];
    const effects: ChannelEffects = open && isFit(open.name) ? { open, ...others } : others;
    const target_channels = isTest
      ? [...new Set(targets.map(testChannel))]
      : await this.#openTargets(targets, effects.open?.name);
    const withheld = screening.withheld ? { withheld: screening.withheld } : {};
    return { target_channels, formatted_message, effects, ...withheld };
  }

  /** Whether an event that is not accepted is ignored. `undefined`: it is known. Throws if it is refused. */
  async #ignored({ event_id }: MarketEvent, fault: Fault): Promise<Ignored | undefined> {
    if (fault.ignored === 'anti-echo') return { status: 'ignored', queued: false, reason: fault.ignored };
    // an event that was accepted once is known, whatever the rules for new events say
    if (await this.#accepted(event_id)) return undefined;
    if (fault.ignored) return { status: 'ignored', queued: false, reason: fault.ignored };
    const { path, message } = fault;
    throw new Refusal('invalid_event', message, { details: [{ path, message }] });
  }

  /**
   * Why an event is not accepted: it is an echo, its line would lack an id, or its type is not shown here.
   */
  #faultOf(event: MarketEvent): Fault | undefined {
    const { source, unknown = asInContract } = this.#options;
    const { events } = unknown;
    if (event.source === source)
      return { path: 'source', message: 'source is this service', ignored: 'anti-echo' };
    const { event_type } = event;
    if (events !== 'show' && !isKnownType(event_type)) {
      const nearest = nearestWord(event_type.toLowerCase(), sampleTypes);
      const meant = nearest ? `. Is ${nearest} meant?` : '';
      const message = `event_type ${event_type} is not one that is shown here${meant}`;
      return { path: 'event_type', message, ...(events === 'ignore' ? { ignored: 'unknown-type' } : {}) };
    }
    if (this.#isTest(event) && !event.event_id.startsWith(testIds)) {
      const message = `event_id must begin with ${testIds}: ${event.source} sends tests, which take no id of an event`;
      return { path: 'event_id', message };
    }
    const field = missingId(event);
    if (!field) return undefined;
    const path = `payload.${field}`;
    const wrong =
      event.payload[field] == null || event.payload[field] === '' ? 'is missing' : 'cannot be shown as an id';
    return { path, message: `${path} ${wrong}: ${event_type} is about the thing that it names` };
  }

  #isTest({ source }: MarketEvent): boolean {
    return this.#options.owners?.sendsTests(source) ?? false;
  }

  /** The event that was accepted with an id, if one was. */
  async #accepted(eventId: string): Promise<MarketEvent | undefined> {
    return (await this.#options.log.last(market, marketSubject(eventToken(eventId))))?.data;
  }

  /** The answer to an event that is known. Throws 409 `event_id_taken` if it is known from another producer. */
  async #known(event: MarketEvent, isCounted = true) {
    const { event_id, source } = event;
    const { owners } = this.#options;
    // without names of producers nobody can tell two of them apart
    const first = owners && (await this.#accepted(event_id));
    if (first && owners.producerOf(first.source) !== owners.producerOf(source))
      throw new Refusal('event_id_taken');
    return {
      status: 'already_processed' as const,
      queued: false as const,
      duplicate: true as const,
      event_id,
      ...(await this.#statusOf(event, isCounted)),
    };
  }

  /**
   * Drops deleted rooms of tasks and relays: a late line opens none of them again, except the one that it
   * `opens`.
   */
  async #openTargets(targets: string[], opens: string | undefined): Promise<string[]> {
    // most events are shown in lasting channels
    if (!targets.some((name) => name !== opens && shortLived.has(roomTypeOf(name)))) return targets;
    const { deletedRooms } = this.#options;
    const isDeleted = await Promise.all(
      targets.map(async (name) => {
        if (name === opens || !shortLived.has(roomTypeOf(name))) return false;
        const deletedAt = await deletedRooms.deletedAt(name);
        // an event may have opened it again after its deletion, and the channel service does not know that
        // yet
        return deletedAt !== undefined && !(await this.#isOpenedSince(name, deletedAt));
      }),
    );
    const open = targets.filter((_, index) => !isDeleted[index]);
    return open.length > 0 ? open : [feedChannel];
  }

  /**
   * Status of a known event. The read model may lag or be away, and the answer does not wait for it. If it
   * has the event, it also tells whether this one differs.
   */
  async #statusOf(
    event: MarketEvent,
    isCounted: boolean,
  ): Promise<{ delivery_status: string | null; warnings?: Warning[] }> {
    const { readModels, conflicting } = this.#options;
    try {
      const known = await readModels.read('delivery_queue', (sql, schema) => knownEvent(sql, schema, event));
      const delivery_status = known?.status ?? 'pending';
      if (known?.isSame !== false) return { delivery_status };
      if (isCounted) conflicting.note(event.event_id);
      return { delivery_status, warnings: [otherBody] };
    } catch {
      return { delivery_status: null };
    }
  }
}

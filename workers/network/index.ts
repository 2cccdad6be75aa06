import type { Logger } from 'pino';
import type { Log } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { LineSighting, Sighting } from '../../streams/network/index.js';
import {
  type IrcConnection,
  type IrcLine,
  type JoinOutcome,
  type NetworkSize,
  networkSize,
  type Session,
  serverUpSince,
} from '../irc/index.js';
import { catchUp, reachOf } from './catch-up.js';
import { Journal, type RecordingObserver, type Track } from './journal.js';
import { Place } from './place.js';
import { lineOf, Room } from './room.js';
import { WantedChannels } from './wanted.js';

/** What the recorder works with. */
export interface RecordIrcOptions {
  log: Log;
  irc: IrcConnection;
  /** Recorded beside the managed channels. */
  channels: readonly string[];
  logger: Logger;
  /** Bytes that may wait for the log, roughly; 64 MB by default. */
  maxWaitingBytes?: number;
  observe?: RecordingObserver;
}

export type { RecordingObserver } from './journal.js';

const window = 500;
const lookMs = 250;
const sizeEveryMs = 2_000;
/** A room that was just created is entered after its creator, and one that we were kicked from perhaps deleted. */
const newcomerMs = 500;
const kickedMs = 3_000;
const wholeEveryMs = 24 * 3_600_000;
const flushMs = 2_000;
/** The clocks of the log server and of the IRC server may differ by as much. */
const clockToleranceMs = 60_000;

/** Records what is said and done in the wanted channels, each thing once, as far as anybody can know it. */
export class RecordIrc {
  readonly #options: RecordIrcOptions;
  readonly #wanted: WantedChannels;
  readonly #journal: Journal;
  readonly #places = new Map<string, Place>();
  readonly #stop = new AbortController();
  #session: Session | undefined;
  #upSince: number | undefined;
  #size: NetworkSize | undefined;
  #sizeAskedAt = 0;
  /** When anything was last seen; and when that was at the end of the session before this one. */
  #seenAt: number | undefined;
  #seenUntil: number | undefined;
  /** And when that was before this recorder began. */
  #firstSeenUntil: number | undefined;
  #recalled = false;
  #following: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  #known = false;
  #wake = () => {};

  constructor(options: RecordIrcOptions) {
    const { log, logger, maxWaitingBytes, observe } = options;
    this.#options = options;
    this.#wanted = new WantedChannels(options.channels);
    this.#journal = new Journal({
      log,
      logger,
      ...(maxWaitingBytes ? { maxWaitingBytes } : {}),
      ...(observe ? { observe } : {}),
      superseded: ({ channel }) => this.#superseded(casefold(channel)),
    });
  }

  start(): void {
    const { irc, log, logger } = this.#options;
    irc.on('line', (line) => this.#see(line));
    irc.on('session', () => this.#wake());
    irc.on('lost', () => this.#lost());
    irc.start();
    this.#following = this.#wanted.follow(log, logger, this.#stop.signal, () => {
      this.#known = true;
      this.#wake();
    });
    this.#running = this.#run();
  }

  /** Leaves the network, with what was seen on the log if it takes it. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#options.irc.stop();
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, flushMs);
    });
    await Promise.race([this.#journal.stop(), bound]);
    clearTimeout(timer);
    await Promise.all([this.#running, this.#following]);
  }

  /** How many channels are recorded now. */
  get rooms(): number {
    let count = 0;
    for (const { room } of this.#places.values()) if (room) count += 1;
    return count;
  }

  /** How many channels are to be recorded. */
  get wanted(): number {
    return this.#wanted.names.size;
  }

  /** The size of the network as of a moment ago; `undefined` without a session, or where the server does not tell. */
  get network(): NetworkSize | undefined {
    return this.#size;
  }

  async #run(): Promise<void> {
    const { log, irc, logger } = this.#options;
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#known) await this.#prepare();
        const session = irc.session();
        if (session && this.#known) await this.#tend(session);
      } catch (error) {
        if (log.connected) logger.warn({ err: error }, 'channels cannot be entered now');
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lookMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (this.#stop.signal.aborted) this.#wake();
      });
    }
  }

  /** Learns from the log where the recording stands, of the channels as well while there is no session yet. */
  async #prepare(): Promise<void> {
    if (!this.#recalled) {
      this.#seenAt ??= await this.#journal.recall();
      this.#seenUntil = this.#seenAt;
      this.#firstSeenUntil = this.#seenAt;
      this.#recalled = true;
    }
    this.#want();
    const unknown = [...this.#places.values()].filter(({ track }) => !track);
    for (let from = 0; from < unknown.length; from += window) {
      if (this.#options.irc.session() || this.#stop.signal.aborted) return;
      await this.#learn(unknown.slice(from, from + window));
    }
  }

  /** Leaves what is not wanted any more, enters what is, and records channels as a whole now and then. */
  async #tend(session: Session): Promise<void> {
    if (session !== this.#session) {
      this.#upSince = await serverUpSince(session, this.#now());
      this.#session = session;
    }
    this.#measure(session);
    await this.#leaveDeleted(session);
    for (;;) {
      const now = Date.now();
      const due = [...this.#places.values()].filter((place) => place.isDue(now));
      if (due.length === 0 || session.lost.aborted || this.#stop.signal.aborted) break;
      await this.#enter(session, due.slice(0, window));
    }
    this.#recordWhole();
  }

  /** Asks how large the network is, now and then; nothing waits for the answer. */
  #measure(session: Session): void {
    if (Date.now() - this.#sizeAskedAt < sizeEveryMs) return;
    this.#sizeAskedAt = Date.now();
    networkSize(session).then(
      (size) => {
        if (!session.lost.aborted) this.#size = size;
      },
      () => {},
    );
  }

  #want(): void {
    const { names } = this.#wanted;
    const isFirst = this.#places.size === 0;
    for (const [key, name] of names) {
      if (!this.#places.has(key)) this.#places.set(key, new Place(name, isFirst ? 0 : newcomerMs));
    }
  }

  /** Channels that were deleted are left, also those that were deleted while nobody looked. */
  async #leaveDeleted(session: Session): Promise<void> {
    const since = (this.#firstSeenUntil ?? 0) - clockToleranceMs;
    for (const [key, { name, at }] of this.#wanted.deleted) {
      const place = this.#places.get(key);
      const isOld = !place && at < since;
      const track = isOld ? undefined : (place?.track ?? (await this.#journal.track(name)));
      this.#wanted.deleted.delete(key);
      this.#places.delete(key);
      if (place?.room) void session.command('PART', name).catch(() => {});
      if (track?.seenAt !== undefined && !track.left) {
        this.#journal.add(track, [{ is: 'left', at: this.#now(), reason: 'Channel deleted' }]);
      }
    }
  }

  async #learn(places: readonly Place[]): Promise<void> {
    await Promise.all(
      places.map(async (place) => {
        place.track ??= await this.#journal.track(place.name);
      }),
    );
  }

  async #enter(session: Session, places: Place[]): Promise<void> {
    await this.#learn(places);
    for (const place of places) place.early = [];
    const { logger } = this.#options;
    const started = Date.now();
    const names = places.map(({ name }) => name);
    const outcomes = await session.join(names, { history: true, witness: true });
    let joined = 0;
    for (const place of places) {
      const outcome = outcomes.get(place.name);
      const { early = [] } = place;
      place.early = undefined;
      if (session.lost.aborted || !outcome || outcome.is === 'lost') continue;
      if (outcome.is === 'refused') {
        const error = `${outcome.code} ${outcome.error}`;
        if (place.giveWay()) logger.warn({ channel: place.name, error }, 'channel cannot be recorded');
        continue;
      }
      joined += 1;
      this.#entered(session, place, outcome);
      // in a channel that we were in already, a line may have come before we left it and entered it again
      const replayed = new Set(outcome.scene?.lines.map(({ tags }) => tags.msgid));
      for (const { line, at } of early) {
        if (!line.tags.msgid || !replayed.has(line.tags.msgid)) this.#observe(place, line, at);
      }
    }
    logger.info({ joined, of: places.length, ms: Date.now() - started }, 'channels recorded');
  }

  #entered(session: Session, place: Place, outcome: JoinOutcome & { is: 'joined' }): void {
    const { modes, history } = outcome;
    const scene = outcome.scene ?? { members: [], topic: '', lines: [] };
    const track = place.track!;
    const now = this.#now();
    const missed = catchUp({
      known: track.lastLine,
      seenUntil: this.#seenUntilOf(track),
      upSince: this.#upSince,
      history: history && {
        lines: scene.lines.map((line): LineSighting => lineOf(line, this.#timeOf(line))),
        reachesBack: reachOf(modes, history.from, now),
      },
      now,
    });
    place.room = new Room(place.name, scene, modes, session.modeNames);
    place.wholeAt = now;
    this.#record(place, [...missed, place.room.snapshot(now)]);
  }

  /** What the log has of a channel was seen; and unless we left it, everything until the last session ended. */
  #seenUntilOf({ seenAt, left }: Track): number | undefined {
    return seenAt === undefined || left ? seenAt : Math.max(seenAt, this.#seenUntil ?? 0);
  }

  /** Any line that is nobody's answer; those that are about a member are about each channel they are in. */
  #see(line: IrcLine): void {
    const at = this.#timeOf(line);
    if (line.command === 'QUIT' || line.command === 'NICK') {
      for (const place of this.#places.values()) {
        if (place.early || place.room?.has(line.nick)) this.#observe(place, line, at);
      }
      return;
    }
    const place = this.#places.get(casefold(line.params[0] ?? ''));
    if (place) this.#observe(place, line, at);
  }

  #observe(place: Place, line: IrcLine, at: number): void {
    const { room, early } = place;
    const { command, params } = line;
    if (early) early.push({ line, at });
    if (!room || (command === 'JOIN' && this.#isUs(line.nick))) return;
    const sighting = room.see(line, at);
    if (sighting) this.#record(place, [sighting]);
    const gone = command === 'KICK' ? params[1] : command === 'PART' ? line.nick : undefined;
    if (gone && this.#isUs(gone)) this.#left(place, params.at(-1) ?? '');
  }

  #isUs(nick: string): boolean {
    return casefold(nick) === casefold(this.#session?.nick ?? '');
  }

  #left(place: Place, reason: string): void {
    this.#record(place, [{ is: 'left', at: this.#now(), reason }]);
    place.leave(kickedMs);
  }

  /** Somebody else records the channel: it is left to them for a while, and then what they missed is looked for. */
  #superseded(key: string): void {
    const place = this.#places.get(key);
    if (place) place.track = undefined;
    place?.giveWay();
  }

  #lost(): void {
    this.#size = undefined;
    this.#sizeAskedAt = 0;
    this.#seenUntil = this.#seenAt;
    for (const place of this.#places.values()) place.lost();
  }

  /** Facts grow old and are dropped: what is true for longer than that has to be said again. */
  #recordWhole(): void {
    const now = this.#now();
    const old = [...this.#places.values()].filter(
      ({ room, wholeAt }) => room && wholeAt < now - wholeEveryMs,
    );
    for (const place of old.slice(0, window)) {
      place.wholeAt = now;
      this.#record(place, [place.room!.snapshot(now)]);
    }
  }

  #record(place: Place, seen: Sighting[]): void {
    this.#seenAt = Math.max(this.#seenAt ?? 0, seen.at(-1)!.at);
    if (place.track) this.#journal.add(place.track, seen);
  }

  #timeOf({ tags }: IrcLine): number {
    const at = Date.parse(tags.time ?? '');
    return Number.isNaN(at) ? this.#now() : at;
  }

  #now(): number {
    return Math.round(this.#options.log.now().getTime());
  }
}

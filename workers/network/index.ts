import type { Logger } from 'pino';
import { atMost, clock } from '../../streams/core/clock.js';
import { type Log, Sleeper } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type IrcConnection,
  type IrcLine,
  type NetworkSize,
  networkSize,
  type Session,
  serverUpSince,
} from '../irc/index.js';
import { Journal, type RecordingObserver } from './journal.js';
import { Outstanding } from './outstanding.js';
import { Sightings } from './sightings.js';
import { WantedChannels } from './wanted.js';
import { WatchedChannel } from './watched-channel.js';

/** What the recorder works with. */
export interface RecordIrcOptions {
  log: Log;
  irc: IrcConnection;
  /** Recorded in addition to the managed channels. */
  channels: readonly string[];
  logger: Logger;
  /** Bytes that may wait for the log, roughly; 64 MB by default. */
  maxWaitingBytes?: number;
  observe?: RecordingObserver;
}

export { greetNewcomers } from './greeting.js';
export type { RecordingObserver } from './journal.js';

const window = 500;
const lookMs = 250;
const sizeEveryMs = 2_000;
/** A newly created room is entered after its creator. */
const newcomerMs = 500;
const flushMs = 2_000;
/** Nothing is looked for in a channel that is not there so long after a session began, in milliseconds. */
const missingMs = 60_000;
/** The clocks of the log server and of the IRC server may differ by this much, in milliseconds. */
const clockToleranceMs = 60_000;

/** Records what is said and done in the wanted channels, each thing once, as far as can be known. */
export class RecordIrc {
  readonly #options: RecordIrcOptions;
  readonly #wanted: WantedChannels;
  readonly #journal: Journal;
  readonly #watched = new Map<string, WatchedChannel>();
  readonly #sightings: Sightings;
  readonly #outstanding = new Outstanding();
  readonly #stop = new AbortController();
  #session: Session | undefined;
  #sessionAt = 0;
  #size: NetworkSize | undefined;
  #sizeAskedAt = Number.NEGATIVE_INFINITY;
  /** When anything was last seen before this recorder began. */
  #firstSeenUntil: number | undefined;
  #recalled = false;
  #following: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  #known = false;
  readonly #sleeper = new Sleeper();

  constructor(options: RecordIrcOptions) {
    const { log, logger, maxWaitingBytes, observe } = options;
    this.#options = options;
    this.#wanted = new WantedChannels(options.channels);
    this.#journal = new Journal({
      log,
      logger,
      ...(maxWaitingBytes ? { maxWaitingBytes } : {}),
      ...(observe ? { observe } : {}),
      superseded: ({ channel }, from) => this.#superseded(casefold(channel), from),
      completeUntil: () => this.#outstanding.until,
    });
    this.#sightings = new Sightings(log, this.#journal, this.#watched, this.#wanted.lives);
  }

  start(): void {
    const { irc, log, logger } = this.#options;
    irc.on('line', (line) => this.#sightings.see(line));
    irc.on('session', () => this.#sleeper.wake());
    irc.on('lost', () => this.#lost());
    irc.start();
    this.#following = this.#wanted.follow(log, logger, this.#stop.signal, () => {
      this.#known = true;
      this.#sleeper.wake();
    });
    this.#running = this.#run();
  }

  /** Leaves the network. What was seen is then on the log, if the log takes it. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#options.irc.stop();
    await atMost(this.#journal.stop(), flushMs);
    await Promise.all([this.#running, this.#following]);
  }

  /** How many channels are recorded now. */
  get rooms(): number {
    let count = 0;
    for (const { room } of this.#watched.values()) if (room) count += 1;
    return count;
  }

  /** How many channels should be recorded. */
  get wanted(): number {
    return this.#wanted.names.size;
  }

  /**
   * The size of the network at the last measurement; `undefined` without a session, or if the server does not
   * tell.
   */
  get network(): NetworkSize | undefined {
    return this.#size;
  }

  /** The nicks in a channel, while it is recorded; `undefined` while it is not. */
  nicksIn(channel: string): string[] | undefined {
    return this.#watched.get(casefold(channel))?.room?.nicks;
  }

  /** Whether a nick is in a channel that is recorded. */
  hasNick(channel: string, nick: string): boolean {
    return this.#watched.get(casefold(channel))?.room?.has(nick) ?? false;
  }

  /** Records a line that we have said ourselves, as the network shows it. */
  hear(line: IrcLine): void {
    this.#sightings.see(line);
  }

  /**
   * Waits until all that was seen in a channel is on the log. Answers whether the channel is recorded now: then that is
   * all that its history told of what was missed, too.
   */
  async isWhole(channel: string): Promise<boolean> {
    const watched = this.#watched.get(casefold(channel));
    if (!watched?.room) return false;
    await watched.recording?.writing;
    return watched.room !== undefined && watched.recording?.waiting.length === 0;
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
      await this.#sleeper.sleep(lookMs, this.#stop.signal);
    }
  }

  /**
   * Learns from the log up to where it is recorded. While there is no session yet, learns it for each channel
   * too.
   */
  async #prepare(): Promise<void> {
    if (!this.#recalled) {
      this.#sightings.seenAt ??= await this.#journal.recall();
      this.#firstSeenUntil = this.#sightings.seenAt;
      this.#recalled = true;
    }
    this.#want();
    const unknown = [...this.#watched.values()].filter(({ recording }) => !recording);
    for (let from = 0; from < unknown.length; from += window) {
      if (this.#options.irc.session() || this.#stop.signal.aborted) return;
      await this.#learn(unknown.slice(from, from + window));
    }
  }

  /**
   * Leaves channels that are no longer wanted, enters wanted ones, and records snapshots of channels now and
   * then.
   */
  async #tend(session: Session): Promise<void> {
    if (session !== this.#session) {
      this.#sightings.begin(session, await serverUpSince(session, this.#sightings.now()));
      this.#session = session;
      this.#sessionAt = clock.elapsed();
    }
    this.#measure(session);
    await this.#leaveDeleted(session);
    for (;;) {
      const now = clock.elapsed();
      const due = [...this.#watched.values()].filter((watched) => watched.isDue(now));
      if (due.length === 0 || session.lost.aborted || this.#stop.signal.aborted) break;
      await this.#enter(session, due.slice(0, window));
    }
    this.#sightings.recordWhole();
  }

  /** Asks how large the network is, now and then; nothing waits for the answer. */
  #measure(session: Session): void {
    if (clock.elapsed() - this.#sizeAskedAt < sizeEveryMs) return;
    this.#sizeAskedAt = clock.elapsed();
    networkSize(session).then(
      (size) => {
        if (!session.lost.aborted) this.#size = size;
      },
      () => {},
    );
  }

  #want(): void {
    const { names } = this.#wanted;
    const isFirst = this.#watched.size === 0;
    for (const [key, name] of names) {
      if (this.#watched.has(key)) continue;
      this.#watched.set(key, new WatchedChannel(name, isFirst ? 0 : newcomerMs, this.#firstSeenUntil));
      if (isFirst && this.#firstSeenUntil !== undefined) this.#outstanding.add(key, this.#firstSeenUntil);
    }
  }

  /** Leaves deleted channels, including those that were deleted while nobody looked. */
  async #leaveDeleted(session: Session): Promise<void> {
    const since = (this.#firstSeenUntil ?? 0) - clockToleranceMs;
    for (const [key, { name, at }] of this.#wanted.deleted) {
      const watched = this.#watched.get(key);
      const isOld = !watched && at < since;
      const recording = isOld ? undefined : (watched?.recording ?? (await this.#journal.recording(name)));
      this.#wanted.deleted.delete(key);
      this.#watched.delete(key);
      this.#outstanding.done(key);
      if (watched?.room) void session.command('PART', name).catch(() => {});
      if (recording?.seenAt !== undefined && !recording.left) {
        this.#journal.add(recording, [{ is: 'left', at: this.#sightings.now(), reason: 'Channel deleted' }]);
      }
    }
  }

  async #learn(group: readonly WatchedChannel[]): Promise<void> {
    await Promise.all(
      group.map(async (watched) => {
        watched.recording ??= await this.#journal.recording(watched.name);
      }),
    );
  }

  async #enter(session: Session, group: WatchedChannel[]): Promise<void> {
    await this.#learn(group);
    for (const watched of group) watched.early = [];
    const { logger } = this.#options;
    const started = clock.elapsed();
    const names = group.map(({ name }) => name);
    const outcomes = await session.join(names, { history: true, witness: true });
    let joined = 0;
    for (const watched of group) {
      const outcome = outcomes.get(watched.name);
      const { early = [] } = watched;
      watched.early = undefined;
      if (session.lost.aborted || !outcome || outcome.is === 'lost') continue;
      // somebody else has recorded it meanwhile
      if (!watched.recording) continue;
      const isMissing = outcome.is === 'waiting';
      if (!isMissing || clock.elapsed() - this.#sessionAt > missingMs)
        this.#outstanding.done(casefold(watched.name));
      if (isMissing) {
        watched.leave(newcomerMs);
        continue;
      }
      if (outcome.is === 'refused') {
        const error = `${outcome.code} ${outcome.error}`;
        if (watched.backOff()) logger.warn({ channel: watched.name, error }, 'channel cannot be recorded');
        continue;
      }
      joined += 1;
      this.#sightings.entered(session, watched, outcome, early);
    }
    logger.info({ joined, of: group.length, ms: Math.round(clock.elapsed() - started) }, 'channels recorded');
  }

  /**
   * Another process records the channel: it is left to that process for a while, and then the missed part is
   * looked for.
   */
  #superseded(key: string, from: number): void {
    const watched = this.#watched.get(key);
    if (!watched) return;
    this.#outstanding.add(key, from - 1);
    watched.recording = undefined;
    watched.seenUntil = undefined;
    watched.backOff();
  }

  #lost(): void {
    this.#size = undefined;
    this.#sizeAskedAt = Number.NEGATIVE_INFINITY;
    const { seenAt } = this.#sightings;
    for (const [key, watched] of this.#watched) {
      if (watched.room && seenAt !== undefined) this.#outstanding.add(key, seenAt);
      watched.lost(seenAt);
    }
  }
}

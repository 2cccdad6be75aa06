import type { Logger } from 'pino';
import { atMost, clock } from '../../streams/core/clock.js';
import { type Log, Sleeper } from '../../streams/core/index.js';
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
import { Journal, type Recording, type RecordingObserver } from './journal.js';
import { lineOf, Room } from './room.js';
import { WantedChannels } from './wanted.js';
import { WatchedChannel } from './watched-channel.js';

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
  readonly #watched = new Map<string, WatchedChannel>();
  readonly #stop = new AbortController();
  #session: Session | undefined;
  #upSince: number | undefined;
  #size: NetworkSize | undefined;
  #sizeAskedAt = 0;
  /** When anything was last seen; and when that was before this recorder began. */
  #seenAt: number | undefined;
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
      superseded: ({ channel }) => this.#superseded(casefold(channel)),
    });
  }

  start(): void {
    const { irc, log, logger } = this.#options;
    irc.on('line', (line) => this.#see(line));
    irc.on('session', () => this.#sleeper.wake());
    irc.on('lost', () => this.#lost());
    irc.start();
    this.#following = this.#wanted.follow(log, logger, this.#stop.signal, () => {
      this.#known = true;
      this.#sleeper.wake();
    });
    this.#running = this.#run();
  }

  /** Leaves the network, with what was seen on the log if it takes it. Bounded. */
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
      await this.#sleeper.sleep(lookMs, this.#stop.signal);
    }
  }

  /** Learns from the log where the recording stands, of the channels as well while there is no session yet. */
  async #prepare(): Promise<void> {
    if (!this.#recalled) {
      this.#seenAt ??= await this.#journal.recall();
      this.#firstSeenUntil = this.#seenAt;
      this.#recalled = true;
    }
    this.#want();
    const unknown = [...this.#watched.values()].filter(({ recording }) => !recording);
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
      const now = clock.now();
      const due = [...this.#watched.values()].filter((watched) => watched.isDue(now));
      if (due.length === 0 || session.lost.aborted || this.#stop.signal.aborted) break;
      await this.#enter(session, due.slice(0, window));
    }
    this.#recordWhole();
  }

  /** Asks how large the network is, now and then; nothing waits for the answer. */
  #measure(session: Session): void {
    if (clock.now() - this.#sizeAskedAt < sizeEveryMs) return;
    this.#sizeAskedAt = clock.now();
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
    }
  }

  /** Channels that were deleted are left, also those that were deleted while nobody looked. */
  async #leaveDeleted(session: Session): Promise<void> {
    const since = (this.#firstSeenUntil ?? 0) - clockToleranceMs;
    for (const [key, { name, at }] of this.#wanted.deleted) {
      const watched = this.#watched.get(key);
      const isOld = !watched && at < since;
      const recording = isOld ? undefined : (watched?.recording ?? (await this.#journal.recording(name)));
      this.#wanted.deleted.delete(key);
      this.#watched.delete(key);
      if (watched?.room) void session.command('PART', name).catch(() => {});
      if (recording?.seenAt !== undefined && !recording.left) {
        this.#journal.add(recording, [{ is: 'left', at: this.#now(), reason: 'Channel deleted' }]);
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
    const started = clock.now();
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
      if (outcome.is === 'refused') {
        const error = `${outcome.code} ${outcome.error}`;
        if (watched.backOff()) logger.warn({ channel: watched.name, error }, 'channel cannot be recorded');
        continue;
      }
      joined += 1;
      this.#entered(session, watched, outcome);
      // in a channel that we were in already, a line may have come before we left it and entered it again
      const replayed = new Set(outcome.snapshot?.lines.map(({ tags }) => tags.msgid));
      for (const { line, at } of early) {
        if (!line.tags.msgid || !replayed.has(line.tags.msgid)) this.#observe(watched, line, at);
      }
    }
    logger.info({ joined, of: group.length, ms: clock.now() - started }, 'channels recorded');
  }

  #entered(session: Session, watched: WatchedChannel, outcome: JoinOutcome & { is: 'joined' }): void {
    const { modes, history } = outcome;
    const snapshot = outcome.snapshot ?? { members: [], topic: '', lines: [] };
    const recording = watched.recording!;
    const now = this.#now();
    const missed = catchUp({
      known: recording.lastLine,
      recordedUntil: recording.seenAt,
      seenUntil: seenUntilOf(watched, recording),
      isSure: watched.isSure,
      upSince: this.#upSince,
      history: history && {
        lines: snapshot.lines.map((line): LineSighting => lineOf(line, this.#timeOf(line))),
        reachesBack: reachOf(modes, history.from, now),
      },
      now,
    });
    watched.room = new Room(watched.name, snapshot, modes, session.modeNames);
    watched.wholeAt = now;
    this.#record(watched, [...missed, watched.room.snapshot(now)]);
  }

  /** Any line that is nobody's answer; those that are about a member are about each channel they are in. */
  #see(line: IrcLine): void {
    const at = this.#timeOf(line);
    if (line.command === 'QUIT' || line.command === 'NICK') {
      for (const watched of this.#watched.values()) {
        if (watched.early || watched.room?.has(line.nick)) this.#observe(watched, line, at);
      }
      return;
    }
    const watched = this.#watched.get(casefold(line.params[0] ?? ''));
    if (watched) this.#observe(watched, line, at);
  }

  #observe(watched: WatchedChannel, line: IrcLine, at: number): void {
    const { room, early } = watched;
    const { command, params } = line;
    if (early) early.push({ line, at });
    if (!room || (command === 'JOIN' && this.#isUs(line.nick))) return;
    const sighting = room.see(line, at);
    if (sighting) this.#record(watched, [sighting]);
    const gone = command === 'KICK' ? params[1] : command === 'PART' ? line.nick : undefined;
    if (gone && this.#isUs(gone)) this.#left(watched, params.at(-1) ?? '');
  }

  #isUs(nick: string): boolean {
    return casefold(nick) === casefold(this.#session?.nick ?? '');
  }

  #left(watched: WatchedChannel, reason: string): void {
    this.#record(watched, [{ is: 'left', at: this.#now(), reason }]);
    watched.leave(kickedMs);
  }

  /** Somebody else records the channel: it is left to them for a while, and then what they missed is looked for. */
  #superseded(key: string): void {
    const watched = this.#watched.get(key);
    if (!watched) return;
    watched.recording = undefined;
    watched.seenUntil = undefined;
    watched.backOff();
  }

  #lost(): void {
    this.#size = undefined;
    this.#sizeAskedAt = 0;
    for (const watched of this.#watched.values()) watched.lost(this.#seenAt);
  }

  /** Facts grow old and are dropped: what is true for longer than that has to be said again. */
  #recordWhole(): void {
    const now = this.#now();
    const old = [...this.#watched.values()].filter(
      ({ room, wholeAt }) => room && wholeAt < now - wholeEveryMs,
    );
    for (const watched of old.slice(0, window)) {
      watched.wholeAt = now;
      this.#record(watched, [watched.room!.snapshot(now)]);
    }
  }

  #record(watched: WatchedChannel, seen: Sighting[]): void {
    this.#seenAt = Math.max(this.#seenAt ?? 0, seen.at(-1)!.at);
    if (watched.recording) this.#journal.add(watched.recording, seen);
  }

  #timeOf({ tags }: IrcLine): number {
    const at = Date.parse(tags.time ?? '');
    return Number.isNaN(at) ? this.#now() : at;
  }

  #now(): number {
    return Math.round(this.#options.log.now().getTime());
  }
}

/** What the log has of a channel was seen; and unless it was left, everything until the session before ended. */
function seenUntilOf({ seenUntil = 0 }: WatchedChannel, { seenAt = 0, left }: Recording): number {
  return left ? seenAt : Math.max(seenAt, seenUntil);
}

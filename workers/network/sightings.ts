import type { Log } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Sighting } from '../../streams/network/index.js';
import type { IrcLine, JoinOutcome, JoinSnapshot, Session } from '../irc/index.js';
import { historyMode } from '../irc/join.js';
import { parameterOf } from '../irc/join-answers.js';
import { catchUp, reachOf } from './catch-up.js';
import type { Journal, Recording } from './journal.js';
import { isKept, lineOf, Room, saidIn } from './room.js';
import type { EarlyLine, WatchedChannel } from './watched-channel.js';

const wholeEveryMs = 24 * 3_600_000;
/** Channels that are recorded as a whole at a time. */
const window = 500;
/** After we were kicked: the channel is perhaps deleted. */
const kickedMs = 3_000;

/** Lines about somebody, wherever they are. */
const ofMembers: ReadonlySet<string> = new Set(['QUIT', 'NICK', 'AWAY']);

/** What is seen of the watched channels, as it is recorded. */
export class Sightings {
  /** When anything was last seen. */
  seenAt: number | undefined;
  readonly #log: Log;
  readonly #journal: Journal;
  readonly #watched: ReadonlyMap<string, WatchedChannel>;
  readonly #lives: ReadonlyMap<string, number>;
  #session: Session | undefined;
  #upSince: number | undefined;

  /** `lives` has the sequences of the facts that created managed channels, by their casefolded names. */
  constructor(
    log: Log,
    journal: Journal,
    watched: ReadonlyMap<string, WatchedChannel>,
    lives: ReadonlyMap<string, number>,
  ) {
    this.#log = log;
    this.#journal = journal;
    this.#watched = watched;
    this.#lives = lives;
  }

  /** From now on things are seen in this session, on a server that is up since then. */
  begin(session: Session, upSince: number | undefined): void {
    this.#session = session;
    this.#upSince = upSince;
  }

  /** A watched channel was entered: what was missed of it, what it is like now, and what came while it was entered. */
  entered(
    session: Session,
    watched: WatchedChannel,
    outcome: JoinOutcome & { is: 'joined' },
    early: readonly EarlyLine[],
  ): void {
    const { modes, history } = outcome;
    const snapshot: JoinSnapshot = outcome.snapshot ?? { members: [], topic: '', lines: [] };
    const recording = watched.recording!;
    const now = this.now();
    // in a channel that we were in already, lines came before we left it and entered it again
    const replayed = new Set(snapshot.lines.map(({ tags }) => tags.msgid));
    const isReplayed = ({ line }: EarlyLine): boolean => !!line.tags.msgid && replayed.has(line.tags.msgid);
    const reentered = early.findLastIndex(isReplayed);
    // more lines have come since than a history keeps: these are older than all that it tells
    const fallen = new Set(
      early.slice(0, Math.max(0, reentered)).filter((one) => !isReplayed(one) && isText(one)),
    );
    const missed = catchUp({
      known: recording.lastLine,
      recordedUntil: recording.seenAt,
      seenUntil: seenUntilOf(watched, recording),
      isSure: watched.isSure,
      upSince: this.#upSince,
      history: history && {
        lines: [
          ...[...fallen].map(({ line, at }) => lineOf(line, at)),
          ...snapshot.lines.map((line) => lineOf(line, this.#timeOf(line))),
        ],
        reachesBack: reachOf(parameterOf(session.modeNames, modes, historyMode.flag), history.from, now),
      },
      now,
    });
    watched.room = new Room(watched.name, snapshot, modes, session.modeNames);
    watched.wholeAt = now;
    // nobody saw when it was opened or closed meanwhile: what was said then is private if it was so on either side
    const isPrivate = recording.closed.seen === true || watched.room.isPrivate;
    const said = missed.map((sighting) => saidIn(sighting, isPrivate));
    // what came after the server had told this may be on its way still
    this.#record(watched, [...said, watched.room.snapshot(this.#timed(snapshot.time))]);
    for (const one of early)
      if (!isReplayed(one) && !fallen.has(one)) this.#observe(watched, one.line, one.at);
  }

  /** Any line that is nobody's answer; those that are about a member are about each channel they are in. */
  see(line: IrcLine): void {
    const at = this.#timeOf(line);
    if (ofMembers.has(line.command)) {
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
    if (!sighting) return;
    const away = sighting.is === 'nick' ? room.awayOf(sighting.to) : undefined;
    // whoever is away is so under another nick too
    const still = away === undefined ? [] : [{ is: 'away' as const, at, nick: params[0]!, message: away }];
    this.#record(watched, [sighting, ...still]);
    const gone = command === 'KICK' ? params[1] : command === 'PART' ? line.nick : undefined;
    if (gone && this.#isUs(gone)) this.#left(watched, params.at(-1) ?? '', at);
  }

  /** Facts grow old and are dropped: what is true for longer than that has to be said again. */
  recordWhole(): void {
    const now = this.now();
    const old = [...this.#watched.values()].filter(
      ({ room, wholeAt }) => room && wholeAt < now - wholeEveryMs,
    );
    for (const watched of old.slice(0, window)) {
      watched.wholeAt = now;
      this.#record(watched, [watched.room!.snapshot(now, { continues: true })]);
    }
  }

  /** The time by the log's clock, in whole milliseconds. */
  now(): number {
    return Math.round(this.#log.now().getTime());
  }

  /** We are out since a time by the server's clock: the line that says so may have been on its way for long. */
  #left(watched: WatchedChannel, reason: string, at: number): void {
    this.#record(watched, [{ is: 'left', at, reason }]);
    watched.leave(kickedMs);
  }

  #record(watched: WatchedChannel, seen: Sighting[]): void {
    this.seenAt = Math.max(this.seenAt ?? 0, seen.at(-1)!.at);
    const { recording } = watched;
    if (!recording) return;
    recording.life = this.#lives.get(casefold(watched.name));
    this.#journal.add(recording, seen);
  }

  #isUs(nick: string): boolean {
    return casefold(nick) === casefold(this.#session?.nick ?? '');
  }

  #timeOf({ tags }: IrcLine): number {
    return this.#timed(tags.time);
  }

  /** The time that a server tagged a line with; now, if it did not. */
  #timed(time: string | undefined): number {
    const at = Date.parse(time ?? '');
    return Number.isNaN(at) ? this.now() : at;
  }
}

/** Whether a history keeps it. */
const isText = ({ line, at }: EarlyLine): boolean =>
  (line.command === 'PRIVMSG' || line.command === 'NOTICE') && isKept(lineOf(line, at));

/** What the log has of a channel was seen; and unless it was left, everything until the session before ended. */
function seenUntilOf({ seenUntil = 0 }: WatchedChannel, { seenAt = 0, left }: Recording): number {
  return left ? seenAt : Math.max(seenAt, seenUntil);
}

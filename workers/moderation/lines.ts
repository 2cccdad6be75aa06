import { createHash } from 'node:crypto';
import { personsOfAccount } from '../../projections/moderation/running.js';
import { clock, turn } from '../../streams/core/clock.js';
import type { Origin, Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type Entry,
  type Incident,
  judge,
  lateAfterMs,
  moderation,
  newAccountsOf,
  type PersonCommand,
  type PersonState,
  personDecider,
  personOf,
  type Score,
  scoreText,
  singleSubject,
} from '../../streams/moderation/index.js';
import {
  closedAt,
  type IrcFact,
  irc,
  isLine,
  type LineSighting,
  lineId,
} from '../../streams/network/index.js';
import { Reactor, type Task } from '../core/reactor.js';
import { carryOut } from './carry-out.js';
import type { GatewayHosts } from './gateway-hosts.js';
import type { Met } from './held.js';
import type { InHand } from './in-hand.js';
import { GuardLoops, type LoopSuspect } from './loops.js';
import type { NewAccounts } from './new-accounts.js';
import { Notes } from './notes.js';
import { type GuardOptions, guard } from './options.js';
import { RecentLines } from './recent-lines.js';
import { isComing } from './sanctions.js';

/** A line that scored high enough to be an incident. */
interface Suspect {
  ref: string;
  /** Its own token, if nothing else depends on the incident. */
  token: string;
  line: LineSighting;
  channel: string;
  isPrivate: boolean;
  text: string;
  score: Score;
  factId: string;
}

type Appeared = (seen: Met, channel: string) => Promise<unknown>;

const maxInHand = 1_024;
/** Incidents that are recorded and acted upon in parallel. */
const atOnce = 256;
/** After this time scoring yields to everything else in the process, in milliseconds. */
const turnMs = 5;

/**
 * Scores every recorded line, in the order of the log, and does what the score asks for. Each line is handled
 * once, even if it is handed out again. Incidents of one person are handled in sequence, those of others in
 * parallel.
 */
export class GuardLines {
  readonly #options: GuardOptions;
  readonly #ignored: ReadonlySet<string>;
  readonly #bots: ReadonlySet<string>;
  readonly #reactor: Reactor<typeof irc, Suspect | LoopSuspect>;
  readonly #recent = new RecentLines();
  readonly #loops: GuardLoops;
  readonly #notes: Notes;
  readonly #inHand: InHand;
  /** Last sequence that was scored. */
  #seq = 0;
  /** When scoring yielded the last time. */
  #turnAt = 0;

  readonly #accounts: NewAccounts;
  readonly #gateway: GatewayHosts;
  /** Called for everybody who comes into a channel or speaks there. */
  readonly #appeared: Appeared;

  constructor(
    options: GuardOptions,
    accounts: NewAccounts,
    gateway: GatewayHosts,
    inHand: InHand,
    appeared: Appeared,
  ) {
    const { log, logger } = options;
    this.#options = options;
    this.#accounts = accounts;
    this.#gateway = gateway;
    this.#inHand = inHand;
    this.#appeared = appeared;
    this.#ignored = new Set(options.ignored.map(casefold));
    this.#bots = new Set(options.bots.map(casefold));
    this.#loops = new GuardLoops(options);
    this.#notes = new Notes(logger);
    this.#reactor = new Reactor<typeof irc, Suspect | LoopSuspect>({
      log,
      logger,
      maxInHand,
      atOnce,
      stream: irc,
      durable: 'guard-lines',
      plan: (fact) => this.#suspects(fact),
      handle: async (suspect) => {
        await ('level' in suspect ? this.#handleLoop(suspect) : this.#handle(suspect));
        this.#inHand.leave(suspect.ref);
        return { is: 'done' };
      },
    });
  }

  start(): void {
    this.#reactor.start();
  }

  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  /** The lines of a fact that are incidents. */
  async #suspects(fact: Recorded<IrcFact>): Promise<Task<Suspect | LoopSuspect>[]> {
    const { thresholds } = this.#options;
    const { channel, seen } = fact.data;
    const suspects: Task<Suspect | LoopSuspect>[] = [];
    // what is handed out again was scored, and is in hand or done: with later words it would say something else
    if (fact.seq <= this.#seq) return suspects;
    if (this.#ignored.has(casefold(channel))) return suspects;
    const closed = closedAt(fact, false);
    const lines: { index: number; line: LineSighting; isPrivate: boolean }[] = [];
    for (const [index, line] of seen.entries()) {
      if (isLine(line) || line.is === 'join') this.#see(line, channel);
      if (!isLine(line)) continue;
      lines.push({ index, line, isPrivate: closed[index]! });
      const { score, text } = this.#score(line);
      if (score.score >= thresholds[0]) {
        const id = lineId(fact.seq, index);
        const ref = `line:${id}`;
        const where = { channel, isPrivate: closed[index]! };
        const item = { ref, token: `line-${id}`, line, ...where, text, score, factId: fact.id };
        this.#inHand.take(ref);
        // those of a host may be one person, whatever their accounts
        suspects.push({ key: personOf({ nick: line.nick, host: line.host }), item });
      }
      await this.#giveWay();
    }
    for (const item of this.#loops.see(fact, lines)) {
      this.#inHand.take(item.ref);
      suspects.push({ key: item.person, item });
    }
    this.#seq = fact.seq;
    return suspects;
  }

  #see(line: Parameters<Appeared>[0], channel: string): void {
    this.#appeared(line, channel).catch((err: { code?: unknown }) => {
      const level = isComing.has(err.code) ? 'debug' : 'warn';
      this.#options.logger[level](
        { nick: line.nick, channel, err },
        'somebody who was seen cannot be seen to now',
      );
    });
  }

  /** Facts are scored one after the other, as many as there are: between them, others get a turn. */
  async #giveWay(): Promise<void> {
    if (clock.elapsed() - this.#turnAt < turnMs) return;
    await turn();
    this.#turnAt = clock.elapsed();
  }

  /**
   * The score of a line. If the last lines of the same speaker say together what none of them says alone, the
   * score of all of them. A speaker is an account or a `user@host`: several may share a host, and nobody is
   * responsible for another's words.
   */
  #score({ at, text, nick, host, account }: LineSighting): { score: Score; text: string } {
    const [, warn] = this.#options.thresholds;
    const speaker = account === undefined ? `host ${host ?? nick}` : `account ${casefold(account)}`;
    const alone = { score: scoreText(text), text };
    const joined = alone.score.score < warn ? this.#recent.joined(speaker, at, text) : undefined;
    const together = joined === undefined ? alone : { score: scoreText(joined), text: joined };
    const found = together.score.score >= warn ? together : alone;
    if (found.score.score >= warn) this.#recent.forget(speaker);
    // talk about attacks does not begin one
    else if (!alone.score.talk) this.#recent.add(speaker, at, text);
    return found;
  }

  /** Records an incident and acts upon it. */
  async #handle(suspect: Suspect): Promise<void> {
    const { thresholds, log } = this.#options;
    const { ref, token, line, text, score } = suspect;
    const isBot = this.#bots.has(casefold(line.nick));
    const said = saidOf(suspect, text, score.score >= thresholds[1]);
    const origin = originOf(suspect);
    const before = await this.#recordedOf(line, ref);
    if (isBot || score.score < thresholds[1]) {
      if (before !== undefined) return;
      const judged = judge(score, [], line.at, thresholds);
      if (!judged || (!isBot && !this.#notes.take(personOf(line)))) return;
      const patterns = score.patterns.join(',');
      const data = {
        ...said,
        ...judged,
        person: isBot ? null : personOf(line),
        text_score: score.score,
        patterns,
      };
      const spared = isBot && judged.level !== 'LOG' ? { spared: 'own bot' as const } : {};
      const recorded = {
        type: 'incident.recorded' as const,
        data: { ...data, action: 'none' as const, ...spared },
      };
      await log.appendOnce(moderation, singleSubject(token), recorded, origin);
      return;
    }
    if (await log.last(moderation, singleSubject(token))) return;
    const spared = this.#lateness(line);
    const person = before ?? (await this.#accounts.personOf(line));
    const elsewhere = await this.#elsewhere(line, person);
    await this.#decide({ is: 'judge', person, said, score, thresholds, spared, elsewhere }, origin);
  }

  /** What the same person did by another way onto the network. */
  async #elsewhere(line: LineSighting, person: string): Promise<Entry[]> {
    const others = new Set(await this.#gateway.othersOf(line));
    if (line.account === undefined && others.size > 0) {
      // while the account was new its host was held responsible
      const { read } = this.#options;
      const account = casefold(line.nick);
      for (const other of await read((sql, schema) => personsOfAccount(sql, schema, account)))
        others.add(other);
    }
    others.delete(person);
    const states = await Promise.all([...others].map((other) => this.#look(other)));
    return states.flatMap(({ incidents }) => [...incidents.values()]);
  }

  /** What is known of a person, as of now. */
  async #look(person: string): Promise<PersonState> {
    const command = { is: 'look' as const, person };
    return (await this.#options.log.handle(moderation, personDecider, command, { by: guard })).state;
  }

  /**
   * Whoever a line was recorded of before. Another process may have been told something else by the nick service, or
   * know more of what the speaker said last.
   */
  async #recordedOf(line: LineSighting, ref: string): Promise<string | undefined> {
    const { account, host } = line;
    const people = [personOf(line)];
    if (account !== undefined && host !== undefined) people.push(newAccountsOf(host));
    for (const person of people) if ((await this.#look(person)).incidents.has(ref)) return person;
    return undefined;
  }

  /** Records that somebody's program is in a loop, and acts upon it. */
  async #handleLoop(suspect: LoopSuspect): Promise<void> {
    const { person, line, level } = suspect;
    const said = saidOf(suspect, line.text, true);
    const minutes = this.#options.loopMinutes;
    const command = { is: 'loop', person, said, level, minutes, spared: this.#lateness(line) } as const;
    await this.#decide(command, originOf(suspect));
  }

  #lateness({ at }: LineSighting): 'late' | undefined {
    return this.#options.log.now().getTime() - at > lateAfterMs ? 'late' : undefined;
  }

  async #decide(command: PersonCommand & { is: 'judge' | 'loop' }, origin: Origin): Promise<void> {
    const { fact, position } = await this.#options.log.handle(moderation, personDecider, command, origin);
    if (fact?.type !== 'incident.recorded' || fact.data.action === 'none') return;
    await this.#act(position.seq, personDecider.subject(command), fact.data);
  }

  async #act(id: number, subject: string, incident: Incident): Promise<void> {
    const { logger } = this.#options;
    const {
      ref,
      nick,
      host = null,
      account = null,
      channel,
      patterns,
      level,
      action,
      seconds = null,
    } = incident;
    try {
      const pending = { id, ref, subject, nick, host, account, channel, patterns, action, seconds };
      const outcome = await carryOut(this.#options, pending);
      this.#inHand.answer(ref);
      logger.info({ id, nick, channel, level, action, outcome }, 'incident');
    } catch (error) {
      // it is recorded, and tried again from there
      logger.warn({ id, nick, channel, level, action, err: error }, 'incident is left for later');
    }
  }
}

/** What an incident is recorded under: its own id, since two processes may judge it at the same time, and differently. */
function originOf({ ref, factId }: Pick<Suspect, 'ref' | 'factId'>): Origin {
  return { by: guard, cause: factId, id: `incident:${ref}` };
}

/** What an incident says of a line. It has the text only if that is kept. */
function saidOf(
  { ref, line, channel, isPrivate }: Pick<Suspect, 'ref' | 'line' | 'channel' | 'isPrivate'>,
  text: string,
  isKept: boolean,
) {
  const { nick, host, account, at } = line;
  return {
    ref,
    nick,
    channel,
    ...(isPrivate ? { private: true as const } : {}),
    ...(host === undefined ? {} : { host }),
    ...(account === undefined ? {} : { account }),
    said_at: new Date(at).toISOString(),
    text_hash: createHash('sha256').update(text).digest('hex'),
    ...(isKept ? { text } : {}),
  };
}

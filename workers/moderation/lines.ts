import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { decodeFact, type PulledMessage } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type Incident,
  judge,
  moderation,
  personDecider,
  personOf,
  type Score,
  scoreText,
  singleSubject,
} from '../../streams/moderation/index.js';
import { irc, isLine, type LineSighting, lineId } from '../../streams/network/index.js';
import { InOrderConsumer } from '../core/in-order.js';
import { carryOut } from './carry-out.js';
import { type GuardOptions, guard, usualLateAfterMs } from './options.js';
import { RecentLines } from './recent-lines.js';
import { untilDone } from './retry.js';

/** A line that scored high enough to be an incident. */
interface Suspect {
  ref: string;
  /** Of its own subject, where nothing follows from it but itself. */
  token: string;
  person: string;
  line: LineSighting;
  channel: string;
  text: string;
  score: Score;
  factId: string;
}

const maxInHand = 1_024;
/** Scoring gives way to everything else in the process after so long. */
const turnMs = 5;
/** Longer than anybody reads. */
const answeredMs = 60_000;

/**
 * Scores every recorded line, in the order of the log, and does what that asks for: each line once, also when it is
 * handed out again. Incidents of one person follow one after another; nobody waits for those of others.
 */
export class GuardLines {
  readonly #options: GuardOptions;
  readonly #ignored: ReadonlySet<string>;
  readonly #bots: ReadonlySet<string>;
  readonly #consumer: InOrderConsumer;
  readonly #stop = new AbortController();
  readonly #queue: PulledMessage[] = [];
  readonly #recent = new RecentLines();
  readonly #locks = new KeyedLock();
  readonly #inHand = new Set<string>();
  /** What was done about them lately: who has read a little earlier that nothing was, is told so here. */
  readonly #answered = new LRUCache<string, true>({ max: 10_000, ttl: answeredMs });
  readonly #messages = new Set<number>();
  #isWorking = false;
  #work: Promise<void> | undefined;

  constructor(options: GuardOptions) {
    const { log, logger } = options;
    this.#options = options;
    this.#ignored = new Set(options.ignored.map(casefold));
    this.#bots = new Set(options.bots.map(casefold));
    this.#consumer = new InOrderConsumer({
      log,
      logger,
      stream: irc,
      durable: 'guard-lines',
      capacity: () => maxInHand - this.#messages.size,
      takeOver: async () => {},
      message: (message) => this.#receive(message),
    });
  }

  start(): void {
    this.#consumer.start();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#consumer.stop(), this.#work]);
  }

  /** Whether what is to be done about a line is being done, or has just been done. */
  isInHand(ref: string): boolean {
    return this.#inHand.has(ref) || this.#answered.has(ref);
  }

  #receive(message: PulledMessage): void {
    if (this.#messages.has(message.seq)) return; // handed out again, and still in hand
    this.#messages.add(message.seq);
    this.#queue.push(message);
    if (!this.#isWorking) this.#work = this.#readQueue();
  }

  async #readQueue(): Promise<void> {
    this.#isWorking = true;
    let since = performance.now();
    for (let message = this.#queue.shift(); message; message = this.#queue.shift()) {
      const { seq } = message;
      const jobs: Promise<void>[] = [];
      for (const suspect of this.#scored(message)) {
        if (suspect) jobs.push(this.#inLane(suspect));
        if (performance.now() - since > turnMs) {
          await turn();
          since = performance.now();
        }
      }
      if (jobs.length === 0) this.#done(seq);
      else void Promise.all(jobs).then(() => this.#done(seq));
      if (this.#stop.signal.aborted) return;
    }
    this.#isWorking = false;
  }

  #done(seq: number): void {
    if (this.#stop.signal.aborted) return; // whoever takes over is handed it again
    this.#messages.delete(seq);
    this.#consumer.done(seq);
    this.#consumer.refill();
  }

  /** Each line of a fact that was scored, `undefined` for a harmless one: there is room between them for others. */
  *#scored(message: PulledMessage): Generator<Suspect | undefined> {
    const { thresholds, logger } = this.#options;
    let fact: ReturnType<typeof decodeFact<typeof irc>>;
    try {
      fact = decodeFact(irc, message.data, message);
    } catch (error) {
      logger.error({ seq: message.seq, err: error }, 'recorded lines cannot be read: passed over');
      return;
    }
    const { channel, seen } = fact.data;
    if (this.#ignored.has(casefold(channel))) return;
    for (const [index, line] of seen.entries()) {
      if (!isLine(line)) continue;
      const person = personOf(line);
      const { score, text } = this.#score(person, line);
      if (score.score < thresholds[0]) {
        yield undefined;
        continue;
      }
      const id = lineId(fact.seq, index);
      yield { ref: `line:${id}`, token: `line-${id}`, person, line, channel, text, score, factId: fact.id };
    }
  }

  /** The score of a line, or of the last lines of the same person if these say together what none of them says alone. */
  #score(person: string, { at, text }: LineSighting): { score: Score; text: string } {
    const [, warn] = this.#options.thresholds;
    const alone = { score: scoreText(text), text };
    const joined = alone.score.score < warn ? this.#recent.joined(person, at, text) : undefined;
    const together = joined === undefined ? alone : { score: scoreText(joined), text: joined };
    const found = together.score.score >= warn ? together : alone;
    if (found.score.score >= warn) this.#recent.forget(person);
    // who talks about attacks has not begun one
    else if (!alone.score.talk) this.#recent.add(person, at, text);
    return found;
  }

  /** Records an incident and acts upon it, behind those of the same person; tried again until it is recorded. */
  async #inLane(suspect: Suspect): Promise<void> {
    const { log, logger } = this.#options;
    const { ref, person } = suspect;
    this.#inHand.add(ref);
    await this.#locks.run(person, () =>
      untilDone(() => this.#handle(suspect), { log, logger, signal: this.#stop.signal }),
    );
    this.#inHand.delete(ref);
  }

  async #handle(suspect: Suspect): Promise<void> {
    const { thresholds, log, lateAfterMs = usualLateAfterMs } = this.#options;
    const { ref, person, line, channel, text, score, factId } = suspect;
    const { nick, host, account, at } = line;
    const isBot = this.#bots.has(casefold(nick));
    const said = {
      ...{ ref, nick, channel },
      ...(host === undefined ? {} : { host }),
      ...(account === undefined ? {} : { account }),
      said_at: new Date(at).toISOString(),
      text_hash: createHash('sha256').update(text).digest('hex'),
      ...(score.score >= thresholds[1] ? { text } : {}),
    };
    const origin = { by: guard, cause: factId };
    if (isBot || score.score < thresholds[1]) {
      const judged = judge(score, [], at, thresholds);
      if (!judged) return;
      const patterns = score.patterns.join(',');
      const data = { ...said, ...judged, person: isBot ? null : person, text_score: score.score, patterns };
      const spared = isBot && judged.level !== 'LOG' ? { spared: 'own bot' as const } : {};
      const recorded = {
        type: 'incident.recorded' as const,
        data: { ...data, action: 'none' as const, ...spared },
      };
      await log.appendOnce(moderation, singleSubject(suspect.token), recorded, origin);
      return;
    }
    const spared = log.now().getTime() - at > lateAfterMs ? ('late' as const) : undefined;
    const command = { is: 'judge' as const, person, said, score, thresholds, spared };
    const { fact, position } = await log.handle(moderation, personDecider, command, origin);
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
      this.#answered.set(ref, true);
      logger.info({ id, nick, channel, level, action, outcome }, 'incident');
    } catch (error) {
      // it is recorded, and tried again from there
      logger.warn({ id, nick, channel, level, action, err: error }, 'incident is left for later');
    }
  }
}

import type { Logger } from 'pino';
import { backoff, type Log, type Pauses, type Recorded } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type HeardText,
  inbox,
  isFor,
  type ReceivedMessage,
  type SpeechFact,
} from '../../streams/speech/index.js';
import {
  deadSubjects,
  deliverySubjects,
  isOf,
  type Webhook,
  type WebhookCommand,
  type WebhookDeliveryFact,
  webhookDecider,
  webhookDeliveries,
  webhookSubject,
  webhooks,
} from '../../streams/webhooks/index.js';
import type { PublicFetch } from '../core/public-fetch.js';
import { Reactor, type Try, type Verdict } from '../core/reactor.js';
import { postSigned } from '../core/signed-post.js';
import type { WebhookSecrets } from './secrets.js';

export { publicReach, type Reach, reachWithLoopback } from './reach.js';
export { WebhookSecrets } from './secrets.js';

/** How long the receiver of a webhook has for its answer. */
export const webhookAnswerMs = 5_000;

/** What the worker works with; times in milliseconds. */
export interface DeliverWebhooksOptions {
  log: Log;
  logger: Logger;
  secrets: WebhookSecrets;
  /** Reaches hosts of the public internet only. */
  fetch: PublicFetch;
  /** Which actors of facts are keys that open nothing any more. */
  ended(actors: readonly string[]): Promise<ReadonlySet<string>>;
  /** This service's own name as a source of events. */
  source: string;
  heard: HeardText;
  /** How long a message is tried, by its age; six hours by default. */
  ttlMs?: number;
  /** A webhook that fails for so long is switched off; a day by default. */
  offAfterMs?: number;
  /** Pauses between tries; one second and ten minutes by default. */
  pausesMs?: Pauses;
  /** Longest wait for an answer; `webhookAnswerMs` by default. */
  timeoutMs?: number;
  /** Messages of one agent that wait at most; 50 by default. */
  mostWaiting?: number;
  /** Told what came of each try that reached its end. */
  observe?: WebhookObserver;
  /** Whether a try may begin: not while another process may post. Always by default. */
  mayBegin?(): boolean;
}

/** Told of messages that a webhook took, that are tried again, and that were given up. */
export interface WebhookObserver {
  webhookMessage(outcome: 'delivered' | 'retried' | 'dead'): void;
}

/** A message to post. */
interface Message {
  nick: string;
  /** Its id in the inbox. */
  seq: number;
  /** What it is in the inbox. One that is redriven is posted whatever the webhook wants. */
  is?: string;
  /** Who it is for, as a token; null: whoever has the nick. */
  person: string | null;
  /** Since when it waits. */
  at: Date;
  body: string;
  /** The fact that says that its agent wants it posted again. */
  redriven?: number;
}

const hourMs = 3_600_000;
const usualPauses = { first: 1_000, longest: 600_000 };
const usualWaiting = 50;
const maxInHand = 50_000;
/** Requests under way at most. */
const atOnce = 50;
const mostBytes = 10_000;
/** While another process may post, it is looked again after this time, in milliseconds. */
const waitMs = 500;
const actor = 'deliver-webhooks';
const redriver = 'redrive-webhooks';
const done: Verdict = { is: 'done' };

/**
 * Posts what is in the inboxes of agents to their webhooks, signed. Messages of one agent are posted in their order, one at
 * a time, each until it is taken, refused for good, or too old. What came of it is recorded. A message may be posted twice,
 * after a crash between the two: its `event_id` stays the same.
 */
export class DeliverWebhooks {
  readonly #options: DeliverWebhooksOptions;
  readonly #messages: Reactor<typeof inbox, Message>;
  readonly #redriven: Reactor<typeof webhookDeliveries, Message>;
  /** A redriven message and a new one of the same agent are not posted at once. */
  readonly #locks = new KeyedLock();
  /** Messages in hand, by nick. */
  readonly #waiting = new Map<string, number>();
  /** Up to this sequence messages may have been posted before the last takeover; which ones, by nick. */
  #head = 0;
  #ended = new Map<string, Set<number>>();

  constructor(options: DeliverWebhooksOptions) {
    const { log, logger } = options;
    this.#options = options;
    const common = { log, logger, maxInHand, atOnce };
    this.#messages = new Reactor({
      ...common,
      stream: inbox,
      durable: actor,
      takeOver: async ({ head }) => {
        this.#head = head;
        this.#ended = new Map();
      },
      plan: (fact) => this.#plan(fact),
      handle: async (message, attempt) => {
        const verdict = await this.#deliver(message, attempt);
        if (verdict.is === 'done' || verdict.is === 'dead') this.#count(message.nick, -1);
        return verdict;
      },
    });
    this.#redriven = new Reactor({
      ...common,
      stream: webhookDeliveries,
      durable: redriver,
      filter: deadSubjects,
      plan: (fact) => this.#planRedriven(fact),
      handle: (message, attempt) => this.#deliver(message, attempt),
    });
  }

  start(): void {
    this.#messages.start();
    this.#redriven.start();
  }

  /** Takes no more messages and lets requests under way come to their end. Bounded. */
  async stop(): Promise<void> {
    await Promise.all([this.#messages.stop(), this.#redriven.stop()]);
  }

  async #plan(fact: Recorded<SpeechFact>) {
    const { type, subject, data, seq, at, id } = fact;
    if (type !== 'message.received') return [];
    const nick = subject.slice(subject.lastIndexOf('.') + 1);
    const webhook = await this.#webhookOf(nick);
    if (webhook?.is !== 'on' || !webhook.wants.includes(data.is) || !isFor(data, webhook.person)) return [];
    // what was said before it was registered, or while it was off, is in the inbox
    if (seq <= webhook.after) return [];
    if (seq <= this.#head && (await this.#endedOf(nick)).has(seq)) return [];
    this.#count(nick, 1);
    // an agent that is told of more than it takes loses the oldest, and holds up nobody
    if (this.#isCrowded(nick)) this.#messages.hurry(nick);
    const body = bodyOf(nick, { seq, at, id, data }, this.#options);
    const person = data.person ?? webhook.person;
    return [{ key: nick, item: { nick, seq, is: data.is, person, at, body } }];
  }

  /** What is redriven is posted once: it may be handed over again when its end is on record. */
  async #planRedriven({ type, data, at, seq: redriven }: Recorded<WebhookDeliveryFact>) {
    if (type !== 'message.redriven') return [];
    const { nick, seq, body } = data;
    if ((await this.#readEnded(nick, redriven + 1)).has(seq)) return [];
    const person = data.person === undefined ? await this.#personOf(nick, seq, redriven) : data.person;
    // nobody can tell any more who it was for
    if (person === undefined) return [];
    return [{ key: nick, item: { nick, seq, person, at, body, redriven } }];
  }

  async #deliver(message: Message, attempt: Try): Promise<Verdict> {
    const verdict = await this.#locks.run(message.nick, () => this.#tell(message, attempt));
    const outcome = outcomeOf(verdict);
    if (outcome) this.#options.observe?.webhookMessage(outcome);
    return verdict;
  }

  async #tell(message: Message, { tries, reason }: Try): Promise<Verdict> {
    const { log, secrets, fetch, ended, ttlMs = 6 * hourMs, timeoutMs = webhookAnswerMs } = this.#options;
    const { pausesMs = usualPauses, offAfterMs = 24 * hourMs } = this.#options;
    const { nick, seq, is, at, body } = message;
    if (this.#options.mayBegin?.() === false) return { is: 'wait', afterMs: waitMs };
    const webhook = await this.#webhookOf(nick);
    if (!webhook || webhook.is === 'removed') return done;
    // while it waited, the nick or its webhook may have become another one
    if (!isOf(message, webhook.person)) return done;
    if (is !== undefined && (seq <= webhook.after || !webhook.wants.includes(is))) return done;
    if (webhook.is === 'off') {
      const isOwed = tries > 0 || message.redriven !== undefined;
      return isOwed ? dead(message, tries, 'Switched off') : done;
    }
    if (log.now().getTime() - at.getTime() > ttlMs) return dead(message, tries, reason ?? 'It is too old');
    if (tries > 0 && message.redriven === undefined && this.#isCrowded(nick))
      return dead(message, tries, `Too many wait; the last failure: ${reason}`);
    const { secret_id, url } = webhook;
    if ((await ended([webhook.by])).has(webhook.by)) {
      const why = 'The key that it was registered with has ended';
      await this.#handle({ is: 'switch off', nick, secret_id, reason: why });
      return done;
    }
    const secret = await secrets.of(casefold(nick), secret_id);
    const send = (url: string, request: RequestInit, timeoutMs: number) =>
      fetch(url, { timeoutMs, maxBytes: mostBytes }, request);
    const posted = await postSigned({ url, secret, timeoutMs, send }, body);
    if (posted.is === 'taken') {
      if (webhook.failing_since !== null) await this.#handle({ is: 'succeed', nick, secret_id });
      const data = { nick, seq, attempts: tries + 1 };
      return {
        is: 'done',
        fact: endOf(message, deliverySubjects(nick).posted, { type: 'message.posted', data }),
      };
    }
    await this.#handle({ is: 'fail', nick, secret_id, error: posted.reason, offAfterMs });
    if (posted.is === 'refused') return dead(message, tries + 1, posted.reason);
    return { ...posted, is: 'retry', afterMs: Math.max(posted.afterMs, backoff(tries + 1, pausesMs)) };
  }

  async #webhookOf(nick: string): Promise<Webhook | undefined> {
    return (await this.#options.log.last(webhooks, webhookSubject(nick)))?.data;
  }

  async #handle(command: WebhookCommand): Promise<void> {
    await this.#options.log.handle(webhooks, webhookDecider, command, { by: actor });
  }

  async #endedOf(nick: string): Promise<Set<number>> {
    const known = this.#ended.get(nick) ?? (await this.#readEnded(nick));
    this.#ended.set(nick, known);
    return known;
  }

  /** Messages of a nick that came to an end, by what is on record from a sequence on. */
  async #readEnded(nick: string, since = 1): Promise<Set<number>> {
    const { log } = this.#options;
    const found = new Set<number>();
    const { posted, dead } = deliverySubjects(nick);
    for (const subject of [posted, dead])
      for await (const { type, data } of log.subject(webhookDeliveries, subject, since))
        if (type !== 'message.redriven') found.add(data.seq);
    return found;
  }

  /** The person of a redriven message, as its dead letter has it. Older facts of redriven messages do not say it. */
  async #personOf(nick: string, seq: number, redriven: number): Promise<string | null | undefined> {
    let person: string | null | undefined;
    const { dead } = deliverySubjects(nick);
    for await (const fact of this.#options.log.subject(webhookDeliveries, dead)) {
      if (fact.seq >= redriven) break;
      if (fact.type === 'message.dead_lettered' && fact.data.seq === seq) person = fact.data.person;
    }
    return person;
  }

  #count(nick: string, by: number): void {
    const waiting = (this.#waiting.get(nick) ?? 0) + by;
    if (waiting > 0) this.#waiting.set(nick, waiting);
    else this.#waiting.delete(nick);
  }

  #isCrowded(nick: string): boolean {
    return (this.#waiting.get(nick) ?? 0) > (this.#options.mostWaiting ?? usualWaiting);
  }
}

/** What is counted of a try; nothing where there was nobody to post to. */
function outcomeOf(verdict: Verdict): 'delivered' | 'retried' | 'dead' | undefined {
  if (verdict.is === 'done') return verdict.fact ? 'delivered' : undefined;
  return verdict.is === 'retry' ? 'retried' : verdict.is === 'dead' ? 'dead' : undefined;
}

/** A message as it is posted: the same bytes at each try. */
function bodyOf(
  nick: string,
  { seq, at, id: event_id, data }: { seq: number; at: Date; id: string; data: ReceivedMessage },
  { source, heard }: Pick<DeliverWebhooksOptions, 'source' | 'heard'>,
): string {
  const { person: _, ...message } = data;
  const payload = { nick, id: seq, ...message, text: heard(data.channel, data.text) };
  const event_type = 'message.received';
  return JSON.stringify({ event_id, event_type, source, created_at: at.toISOString(), payload });
}

function dead(message: Message, attempts: number, reason: string): Verdict {
  const { nick, seq, person, body } = message;
  const data = { nick, seq, person, attempts, reason, body };
  const fact = endOf(message, deliverySubjects(nick).dead, { type: 'message.dead_lettered', data });
  return { is: 'dead', reason, fact };
}

/** The end of a message. Two processes may have posted it, after each other: the first of them says what came of it. */
function endOf({ seq, redriven }: Message, subject: string, fact: WebhookDeliveryFact) {
  const id = redriven === undefined ? `end:${seq}` : `end:redriven:${redriven}`;
  return { stream: webhookDeliveries, subject, fact, by: actor, id };
}

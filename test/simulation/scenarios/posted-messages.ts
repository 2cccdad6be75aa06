import { createHmac } from 'node:crypto';
import type { Recorded } from '../../../streams/core/index.js';
import { inbox, isFor, type SpeechFact } from '../../../streams/speech/index.js';
import {
  isOf,
  type Webhook,
  type WebhookDeliveryFact,
  type WebhookFact,
  webhookDeliveries,
  webhooks,
} from '../../../streams/webhooks/index.js';
import type { WebhookSecrets } from '../../../workers/webhooks/index.js';
import type { Asked } from '../http/outside.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Random } from '../random.js';
import type { Stage } from '../scenario.js';

/** A message that reached a receiver, and its answer. */
interface Arrival {
  at: number;
  process: string;
  nick: string;
  body: string;
  signature: string | null;
  status: number;
}

type Message = Recorded<Extract<SpeechFact, { type: 'message.received' }>>;
type Outcome = Recorded<WebhookDeliveryFact>;

/** Answers for a body that a receiver will never take. */
export const neverAgain = [400, 409, 410, 422];

/** The receivers of agents: what they were told, compared with the inboxes, the webhooks and the record. */
export class PostedMessages {
  /** The answers of the receivers of nicks while they refuse. */
  readonly moods = new Map<string, number>();
  /** From when on nothing fails, in milliseconds since 1970. */
  calmFrom = Number.POSITIVE_INFINITY;
  readonly #stage: Stage;
  readonly #ttlMs: number;
  readonly #ofInbox: StoredFacts<typeof inbox>;
  readonly #ofWebhooks: StoredFacts<typeof webhooks>;
  readonly #ofDeliveries: StoredFacts<typeof webhookDeliveries>;
  readonly #messages: Message[] = [];
  readonly #hooks = new Map<string, Recorded<WebhookFact>[]>();
  readonly #outcomes = new Map<number, Outcome[]>();
  readonly #arrivals = new Map<number, Arrival[]>();

  constructor(stage: Stage, server: SimulatedLogServer, { ttlMs }: { ttlMs: number }) {
    this.#stage = stage;
    this.#ttlMs = ttlMs;
    this.#ofInbox = new StoredFacts(server, inbox);
    this.#ofWebhooks = new StoredFacts(server, webhooks);
    this.#ofDeliveries = new StoredFacts(server, webhookDeliveries);
  }

  /** How a receiver answers. */
  serve({ process, headers, body, url }: Asked): Response {
    const { world } = this.#stage;
    const nick = url.pathname.slice(1);
    const { payload } = JSON.parse(body) as { payload: { id: number } };
    const status = this.moods.get(nick) ?? 202;
    const signature = headers.get('x-relay-signature');
    const arrivals = this.#arrivals.get(payload.id) ?? [];
    arrivals.push({ at: world.now, process, nick, body, signature, status });
    this.#arrivals.set(payload.id, arrivals);
    world.tell('receiver', `${nick} ${payload.id} of ${process}: ${status}`);
    return new Response('noted', { status });
  }

  /** Takes note of what was recorded since. */
  read(): void {
    this.#messages.push(...this.#ofInbox.read());
    for (const fact of this.#ofWebhooks.read())
      this.#hooks.set(fact.data.nick, [...(this.#hooks.get(fact.data.nick) ?? []), fact]);
    for (const fact of this.#ofDeliveries.read())
      this.#outcomes.set(fact.data.seq, [...(this.#outcomes.get(fact.data.seq) ?? []), fact]);
  }

  /** A message of a nick that is a dead letter, if there is any. */
  anyDead(nick: string, random: Random): number | undefined {
    this.read();
    const dead = [...this.#outcomes.values()].filter(
      (outcomes) => outcomes.at(-1)!.type === 'message.dead_lettered' && outcomes[0]!.data.nick === nick,
    );
    return dead.length > 0 ? random.pick(dead)[0]!.data.seq : undefined;
  }

  /** Messages that must be posted and have no end yet; empty without any. */
  open(): string {
    this.read();
    const open = this.#messages.filter((message) => {
      const last = this.#outcomes.get(message.seq)?.at(-1);
      if (last?.type === 'message.redriven') {
        const { person } = last.data;
        return this.#isOnSince(nickOf(message), last.at, (hook) => isOf({ person: person! }, hook.person));
      }
      return !last && this.#isOwed(message);
    });
    return open.map(({ seq, subject }) => `${seq} of ${subject}`).join(', ');
  }

  async judge(secrets: WebhookSecrets): Promise<void> {
    this.read();
    for (const message of this.#messages) {
      await this.#judgeArrivals(message, secrets);
      this.#judgeOutcomes(message);
      if (message.at.getTime() >= this.calmFrom) this.#judgeCalm(message);
    }
    for (const nick of this.#hooks.keys()) this.#judgeOrder(nick);
    const inCalm = [...this.#arrivals.values()].flat().filter(({ at }) => at >= this.calmFrom);
    const senders = new Set(inCalm.map(({ process }) => process));
    this.#stage.check('one process posts', senders.size <= 1, [...senders].join(', '));
  }

  /** Whether a message is for every webhook that its nick has had ever since, and they were on all the time. */
  #isOwed(message: Message): boolean {
    return this.#isOnSince(nickOf(message), message.at, (hook) => isWanted(message, hook));
  }

  /** Whether a nick has had a webhook ever since, always on, and each is one that takes it. */
  #isOnSince(nick: string, since: Date, takes: (hook: Webhook) => boolean): boolean {
    const hooks = this.#hooks.get(nick) ?? [];
    const then = hooks.findLastIndex(({ at }) => at <= since);
    return then >= 0 && hooks.slice(then).every(({ data }) => data.is === 'on' && takes(data));
  }

  async #judgeArrivals(message: Message, secrets: WebhookSecrets): Promise<void> {
    const stage = this.#stage;
    const nick = nickOf(message);
    const arrivals = this.#arrivals.get(message.seq) ?? [];
    const hooks = this.#hooks.get(nick) ?? [];
    for (const arrival of arrivals) {
      const { body, signature } = arrival;
      stage.check('a message goes to its agent', arrival.nick === nick, body);
      const isEver = hooks.some(({ data }) => data.is === 'on' && isWanted(message, data));
      stage.check('only what is wanted is posted', isEver, () => `${body} ${JSON.stringify(hooks)}`);
      stage.check('a repeat is the same', body === arrivals[0]!.body, body);
      const { event_id, created_at, payload } = JSON.parse(body) as Record<string, never> & {
        payload: { text: string };
      };
      const isSame =
        event_id === message.id &&
        created_at === message.at.toISOString() &&
        payload.text === message.data.text;
      stage.check('what is posted is what is recorded', isSame, body);
      const signers: Webhook[] = [];
      for (const { data } of hooks) {
        const signed = createHmac('sha256', await secrets.of(nick, data.secret_id)).update(body);
        if (signature === `sha256=${signed.digest('hex')}`) signers.push(data);
      }
      stage.check('what is posted is signed', signers.length > 0, body);
      const isItsOwn = signers.some((hook) => this.#isForHook(message, hook, arrival));
      const told = () => `${body} ${JSON.stringify(message.data)} ${JSON.stringify(signers)}`;
      stage.check('a message is posted to nobody else', isItsOwn, told);
    }
    stage.count('repeats', stage.counts, Math.max(0, arrivals.length - 1));
  }

  /** Whether a message may reach the webhook that signed it. One that is redriven may reach each webhook of its person. */
  #isForHook(message: Message, hook: Webhook, { at }: Arrival): boolean {
    const before = (this.#outcomes.get(message.seq) ?? []).filter((one) => one.at.getTime() <= at + 1);
    const redriven = before.findLast(({ type }) => type === 'message.redriven');
    if (redriven?.type !== 'message.redriven') return isWanted(message, hook);
    return isFor(message.data, hook.person) && isOf({ person: redriven.data.person! }, hook.person);
  }

  #judgeOutcomes({ seq, at, subject }: Message): void {
    const stage = this.#stage;
    const outcomes = this.#outcomes.get(seq) ?? [];
    const arrivals = this.#arrivals.get(seq) ?? [];
    const told = () => {
      const ends = outcomes.map(
        (one) => `${one.type} at ${one.at.getTime() - stage.world.now + stage.world.elapsed}`,
      );
      const came = arrivals.map(
        (one) => `${one.process}: ${one.status} at ${one.at - stage.world.now + stage.world.elapsed}`,
      );
      return `${seq} of ${nickOf({ subject } as Message)}: ${ends.join(', ')}; ${came.join(', ')}`;
    };
    let since = at.getTime();
    for (const [n, outcome] of outcomes.entries()) {
      const { type, data } = outcome;
      stage.count(type);
      const isAfterEnd = n > 0 && outcomes[n - 1]!.type !== 'message.redriven';
      const isRedriven = type === 'message.redriven';
      stage.check('a message has one end, until it is redriven', isAfterEnd === isRedriven, told);
      if (isRedriven) {
        since = outcome.at.getTime();
        continue;
      }
      const said = arrivals.filter((one) => one.at <= outcome.at.getTime() + 1).map(({ status }) => status);
      if (type === 'message.posted') {
        stage.check('what is posted was taken', said.includes(202), told);
        continue;
      }
      const { reason } = data as { reason: string };
      const isOld = outcome.at.getTime() - since >= this.#ttlMs;
      const isRefused = said.some((status) => neverAgain.includes(status));
      const isOther = /^(Switched off|Too many wait)/.test(reason);
      stage.check(
        'what is given up was refused, is too old, or nobody wants it',
        isRefused || isOld || isOther,
        told,
      );
      stage.count(`dead: ${reason.replace(/[:;].*/, '')}`);
    }
  }

  /** While nothing fails a message is posted once, and at once. */
  #judgeCalm(message: Message): void {
    const stage = this.#stage;
    const arrivals = this.#arrivals.get(message.seq) ?? [];
    const told = () => `${JSON.stringify(message)}: ${JSON.stringify(arrivals)}`;
    const isOwed = this.#isOwed(message);
    stage.check('in calm a wanted message is posted once', arrivals.length === (isOwed ? 1 : 0), told);
    if (!isOwed) return;
    const outcome = this.#outcomes.get(message.seq)?.[0];
    const isSoon = outcome?.type === 'message.posted' && outcome.at.getTime() - message.at.getTime() <= 5_000;
    stage.check('in calm a message is posted at once', isSoon, told);
  }

  /** What a receiver took came in the order of the inbox, but for what was redriven. */
  #judgeOrder(nick: string): void {
    let last = { seq: 0, at: 0 };
    for (const message of this.#messages.filter((one) => nickOf(one) === nick)) {
      const { seq } = message;
      const outcomes = this.#outcomes.get(seq) ?? [];
      if (outcomes.length !== 1 || outcomes[0]!.type !== 'message.posted') continue;
      // what became wanted later is posted by a takeover, if at all
      const hook = (this.#hooks.get(nick) ?? []).findLast(({ at }) => at <= message.at)?.data;
      if (!hook || !isWanted(message, hook)) continue;
      const { at } = this.#arrivals.get(seq)![0]!;
      const told = () => `${seq} came at ${at}, and ${last.seq} at ${last.at}`;
      this.#stage.check('messages of an agent come in order', at >= last.at, told);
      last = { seq, at };
    }
  }
}

function nickOf({ subject }: Message): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

function isWanted({ seq, data }: Message, hook: WebhookFact['data']): boolean {
  return seq > hook.after && hook.wants.includes(data.is) && isFor(data, hook.person);
}

import type { Logger } from 'pino';
import { backoff, decodeFact, type Log, type Pauses } from '../../../streams/core/index.js';
import {
  type IdentityFact,
  identity,
  pushSubject,
  registrySubject,
} from '../../../streams/identity/index.js';
import type { Takeover } from '../../core/fact-consumer.js';
import { Reactor, type Try, type Verdict } from '../../core/reactor.js';
import { postSigned, type Receiver } from '../../core/signed-post.js';
import { type Change, changeOf } from './change.js';

/** What the worker works with; times in milliseconds. */
export interface PushIdentityOptions {
  log: Log;
  receiver: Receiver;
  /** This service's own name as a source of events. */
  source: string;
  /** How long a change is tried, by its age; a day by default. */
  giveUpMs?: number;
  /** Pauses between tries; one second and ten minutes by default. */
  pausesMs?: Pauses;
  logger: Logger;
  /** Whether a try may begin: not while another process may tell. Always by default. */
  mayBegin?(): boolean;
}

const dayMs = 24 * 3_600_000;
const usualPauses = { first: 1_000, longest: 600_000 };
const maxInHand = 2_000;
/** Requests under way at most. */
const maxRequests = 8;
/** While another process may tell, it is looked again after this time, in milliseconds. */
const waitMs = 500;
const actor = 'push-identity';

/**
 * Tells one receiver of changes of links. Changes of one nick are told in their order, each one until it is taken,
 * refused for good, or a day old; what came of it is recorded. A change may be told twice, after a crash between the two:
 * its `event_id` stays the same.
 */
export class PushIdentity {
  readonly #options: PushIdentityOptions;
  readonly #reactor: Reactor<typeof identity, Change>;
  /** Recorded as done, and perhaps handed out again. */
  #settled = new Set<number>();

  constructor(options: PushIdentityOptions) {
    const { log, logger, source } = options;
    this.#options = options;
    this.#reactor = new Reactor({
      log,
      logger,
      maxInHand,
      stream: identity,
      durable: actor,
      filter: registrySubject,
      atOnce: maxRequests,
      takeOver: (place) => this.#recall(place),
      concerns: ({ seq }) => !this.#settled.delete(seq),
      plan: (fact) => {
        const change = changeOf(fact, source);
        return change ? [{ key: change.nick, item: change }] : [];
      },
      handle: (change, attempt) => this.#tell(change, attempt),
    });
  }

  start(): void {
    this.#reactor.start();
  }

  /** Takes no more changes and lets requests under way come to their end. Bounded. */
  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  /** Learns what was told already of what will be handed out again. */
  async #recall({ from, signal }: Takeover): Promise<void> {
    this.#settled = new Set();
    const options = { after: from - 1, filter: [pushSubject], batch: 1_000, signal };
    for await (const entries of this.#options.log.follow(identity, options)) {
      if (entries.length === 0) return;
      for (const entry of entries) {
        const { type, data } = decodeFact(identity, entry.data, entry);
        if (type === 'push.delivered' || type === 'push.given_up') this.#settled.add(data.seq);
      }
    }
  }

  async #tell(change: Change, { tries, reason = 'too old' }: Try): Promise<Verdict> {
    if (this.#options.mayBegin?.() === false) return { is: 'wait', afterMs: waitMs };
    const { log, receiver, giveUpMs = dayMs, pausesMs = usualPauses } = this.#options;
    if (log.now().getTime() - change.at.getTime() > giveUpMs) return givenUp(change, tries, reason);
    const posted = await postSigned(receiver, change.body);
    switch (posted.is) {
      case 'taken':
        return { is: 'done', fact: outcome({ type: 'push.delivered', data: told(change, tries + 1) }) };
      case 'refused':
        return givenUp(change, tries + 1, posted.reason);
      case 'failed':
        return { ...posted, is: 'retry', afterMs: Math.max(posted.afterMs, backoff(tries + 1, pausesMs)) };
    }
  }
}

function givenUp(change: Change, attempts: number, reason: string): Verdict {
  const data = { ...told(change, attempts), reason };
  return { is: 'dead', reason, fact: outcome({ type: 'push.given_up', data }) };
}

function told({ seq, nick, eventType: event_type }: Change, attempts: number) {
  return { seq, nick, event_type, attempts };
}

function outcome(fact: IdentityFact) {
  return { stream: identity, subject: pushSubject, fact, by: actor };
}

import { AckPolicy, type ConsumerInfo, DeliverPolicy, NatsError, nanos } from 'nats';
import { type Log, newId, type StreamDefinition } from '../../streams/core/index.js';

/** What a durable consumer is made of. */
export interface DurableConsumerOptions {
  log: Log;
  stream: StreamDefinition;
  /** Its name on the log. */
  durable: string;
  filter?: string | undefined;
}

/**
 * Longer than any message is in hand, in milliseconds: redelivery is done by a takeover, never by the
 * server's timer.
 */
const ackWaitMs = 24 * 3_600_000;
/** Messages after the oldest one in hand; the server keeps some bytes for each. */
const maxAckPending = 1_000_000;

/**
 * A position on the log server. It has one of two names there, so that a crash between making one consumer
 * and deleting the other loses nothing.
 */
export class DurableConsumer {
  readonly #options: DurableConsumerOptions;
  /** Marks the consumers that we make. */
  readonly #holder = newId();
  /** Which of its two names it has on the server now. */
  #name: string | undefined;
  /** Whether we alone have held it since the last `settle`. */
  #isOurs = false;

  constructor(options: DurableConsumerOptions) {
    this.#options = options;
  }

  /** What others may have done is dealt with: it is ours from here on, until somebody else makes one. */
  settle(): void {
    this.#isOurs = true;
  }

  /**
   * Makes it again, after its acknowledged part, under the name that is free. `ours`: nobody else has made
   * one since the last `settle`.
   */
  async renew(): Promise<{ name: string; from: number; ours: boolean }> {
    const { stream, durable, filter, log } = this.#options;
    const { consumers } = log.manager;
    const names = namesOf(durable);
    const found = await Promise.all(names.map((name) => this.#find(name)));
    const floors = found.map((info) => (info ? floorOf(info) : -1));
    const current = floors[1]! > floors[0]! ? 1 : 0;
    const next = 1 - current;
    const there = found.flatMap((info) => info ?? []);
    // kept here: the next try finds our own, also when the answer to this one is lost
    if (there.length === 0 || there.some(({ config }) => config.metadata?.holder !== this.#holder))
      this.#isOurs = false;
    if (found[next]) await log.ask(() => consumers.delete(stream.name, names[next]!));
    const from = Math.max(0, floors[current]!) + 1;
    await log.ask(() =>
      consumers.add(stream.name, {
        durable_name: names[next]!,
        ack_policy: AckPolicy.All,
        ack_wait: nanos(ackWaitMs),
        max_deliver: -1,
        max_ack_pending: maxAckPending,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        metadata: { holder: this.#holder },
        ...(filter ? { filter_subject: filter } : {}),
      }),
    );
    if (found[current]) await log.ask(() => consumers.delete(stream.name, names[current]!));
    this.#name = names[next]!;
    return { name: this.#name, from, ours: this.#isOurs };
  }

  /** Writes notes for other readers on it, which last until it is made again. */
  async note(metadata: Record<string, string>): Promise<void> {
    const { log, stream, durable } = this.#options;
    const name = this.#name;
    if (name === undefined) throw new Error(`${durable} is not taken up yet`);
    await log.ask(() =>
      log.manager.consumers.update(stream.name, name, { metadata: { holder: this.#holder, ...metadata } }),
    );
  }

  async #find(name: string): Promise<ConsumerInfo | undefined> {
    const { log, stream } = this.#options;
    try {
      return await log.ask(() => log.manager.consumers.info(stream.name, name));
    } catch (error) {
      if (error instanceof NatsError && error.code === '404') return undefined;
      throw error;
    }
  }
}

/** The names that the position of a consumer can have on the server, one of them at a time. */
export function namesOf(durable: string): string[] {
  return [`${durable}-1`, `${durable}-2`];
}

/**
 * Sequence up to which all is acknowledged. If a consumer has delivered nothing yet, this is the place it was
 * made at.
 */
export function floorOf(info: ConsumerInfo): number {
  return Math.max(info.ack_floor.stream_seq, (info.config.opt_start_seq ?? 1) - 1);
}

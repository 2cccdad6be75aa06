import { randomBytes } from 'node:crypto';
import { type JetStreamManager, type Msg, NatsError, RetentionPolicy, StorageType } from 'nats';
import { clock } from './clock.js';
import type { StreamDefinition } from './stream.js';

/** What looking needs of the log: ways to ask the server. */
export interface AppendHealthLog {
  ask<T>(request: () => Promise<T>): Promise<T>;
  manager: JetStreamManager;
  connection: { request(subject: string, data: Uint8Array, options: { timeout: number }): Promise<Msg> };
}

interface Trouble {
  reason: string;
  /** Size of what was not taken. */
  bytes: number;
  /** Whether a look has found since then that it may be over. */
  over: boolean;
  lookAt: number;
  pauseMs: number;
}

const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;
/** What a message takes besides its data: record header, subject, message headers. */
const messageOverhead = 512;
/**
 * The log server's code for a stream that could not store, and its words when the stream's limit is the
 * reason.
 */
const storeFailed = 10077;
const isFull = /maximum bytes/i;

/** Holds no facts. A message of the refused size is stored here and removed again. */
const scratch = {
  name: 'RELAY_SCRATCH',
  subject: 'relay.scratch',
  description: 'Tries whether the log server can store anything.',
};
const scratchMs = 2_000;
/** The server's codes: a stream of this name exists with other settings; a stream cannot be stored at all. */
const nameInUse = 10058;
const outOfSpace = /no space|disk|out of storage/i;

/**
 * Knows whether appends get through. It goes by the last appends. When nobody appends because of trouble, it
 * looks now and then: has the stream room again, and can the server store anything? A look can be wrong. Then
 * the next append says so, and the next look comes later.
 */
export class AppendHealth {
  readonly #troubles = new Map<StreamDefinition, Trouble>();
  readonly #log: AppendHealthLog;
  #looking = false;

  constructor(log: AppendHealthLog) {
    this.#log = log;
  }

  stored(stream: StreamDefinition): void {
    if (this.#troubles.size > 0) this.#troubles.delete(stream);
  }

  /** An append of so many bytes was refused, or, without `refusal`, not answered. */
  failed(stream: StreamDefinition, bytes: number, refusal?: { code: number; error: string }): void {
    const before = this.#troubles.get(stream);
    const pauseMs = Math.min(longestPauseMs, (before?.pauseMs ?? shortestPauseMs) * (before?.over ? 2 : 1));
    const reason = reasonOf(stream, refusal);
    this.#troubles.set(stream, { reason, bytes, over: false, pauseMs, lookAt: clock.elapsed() + pauseMs });
  }

  /**
   * Why appends to essential streams do not get through; `undefined` when they do. Reading this triggers a
   * look, now and then.
   */
  get trouble(): string | undefined {
    const current = [...this.#troubles].filter(([, { over }]) => !over);
    const due = current.filter(([, { lookAt }]) => lookAt <= clock.elapsed());
    if (due.length > 0 && !this.#looking) void this.#look(due);
    // a flood that fills another stream does not take the whole service down
    return current.find(([stream]) => stream.essential)?.[1].reason;
  }

  /** The same of one stream, whichever it is. */
  troubleOf(stream: StreamDefinition): string | undefined {
    const trouble = this.#troubles.get(stream);
    if (!trouble || trouble.over) return undefined;
    if (trouble.lookAt <= clock.elapsed() && !this.#looking) void this.#look([[stream, trouble]]);
    return trouble.reason;
  }

  async #look(troubles: [StreamDefinition, Trouble][]): Promise<void> {
    this.#looking = true;
    for (const [stream, trouble] of troubles) {
      // an error says that the log is away altogether
      trouble.over = await this.#takes(stream, trouble.bytes).catch(() => false);
      trouble.lookAt = clock.elapsed() + trouble.pauseMs;
    }
    this.#looking = false;
  }

  /** Whether a stream would take so many bytes now. */
  async #takes(stream: StreamDefinition, bytes: number): Promise<boolean> {
    const log = this.#log;
    const { streams } = log.manager;
    const { state, config } = await log.ask(() => streams.info(stream.name));
    if (config.max_bytes >= 0 && config.max_bytes - state.bytes <= bytes + messageOverhead) return false;
    try {
      await log.ask(() =>
        streams.add({
          name: scratch.name,
          subjects: [scratch.subject],
          description: scratch.description,
          retention: RetentionPolicy.Limits,
          storage: StorageType.File,
          num_replicas: config.num_replicas,
          max_msgs: 1,
        }),
      );
    } catch (error) {
      if (!(error instanceof NatsError) || !error.api_error) throw error;
      const { err_code, description } = error.api_error;
      // where such a stream cannot be made, only the next append can tell
      if (err_code !== nameInUse) return !outOfSpace.test(description);
    }
    // random, so that a disk that compresses is not deceived
    const answer = await log.ask(() =>
      log.connection.request(scratch.subject, randomBytes(bytes), { timeout: scratchMs }),
    );
    await log.ask(() => streams.purge(scratch.name));
    return answer.json<{ error?: unknown }>().error === undefined;
  }
}

function reasonOf({ name }: StreamDefinition, refusal?: { code: number; error: string }): string {
  if (!refusal) return `the event log does not acknowledge appends to ${name}`;
  if (refusal.code === storeFailed && isFull.test(refusal.error)) return `the stream ${name} is full`;
  return `the event log refuses appends to ${name} (${refusal.code})`;
}

import {
  DiscardPolicy,
  ErrorCode,
  NatsError,
  nanos,
  type PubAck,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
} from 'nats';
import { type Log, Unavailable } from '../../streams/core/index.js';

/** How short-lived records are kept. */
export interface ShortLivedOptions {
  /** Name of their stream on the log server, in capitals. */
  name: string;
  /** What they are, for people who look at the streams of the log server. */
  description: string;
  /** How long a record is kept, in milliseconds. */
  maxAgeMs: number;
  /** How many there may be at once. */
  maxEntries: number;
  /** How many bytes they may take together; without bound by default. */
  maxBytes?: number;
  /** What happens when the bound is reached: new ones are refused, or the oldest are dropped. */
  whenFull: 'refuse' | 'forget';
  /** Whether they outlive the log server. */
  storage: 'disk' | 'memory';
  replicas: number;
}

/** A record as it is kept. */
export interface ShortLivedRecord {
  text: string;
  at: Date;
  /** Changes with each change of the record. */
  revision: number;
}

/**
 * The log server's codes: a record has another revision than expected, the store is full, a stream has other
 * settings, and it is not there.
 */
const codes = { conflict: 10071, refused: 10077, otherStream: 10058, noStream: 10059 } as const;
const answerMs = 2_000;

/**
 * Small records under keys that all processes share and that expire by themselves. They are not facts:
 * nothing is folded from them, and they are in no export. Each change is atomic.
 */
export class ShortLived {
  readonly #log: Log;
  readonly #options: ShortLivedOptions;
  #made: Promise<void> | undefined;

  constructor(log: Log, options: ShortLivedOptions) {
    this.#log = log;
    this.#options = options;
  }

  /**
   * Stores a record, if the one under its key has the revision `after` (0: there must be none; left out:
   * whatever is there). Resolves with what became of it. Keys have letters, digits, `-` and `_`.
   */
  async put(key: string, text: string, after?: number): Promise<'stored' | 'conflict' | 'full'> {
    try {
      await this.#ask<PubAck>(() =>
        this.#log.connection.jetstream().publish(this.#subject(key), text, {
          timeout: answerMs,
          ...(after === undefined ? {} : { expect: { lastSubjectSequence: after } }),
        }),
      );
      return 'stored';
    } catch (error) {
      const found = error instanceof NatsError ? error.api_error : undefined;
      if (found?.err_code === codes.conflict) return 'conflict';
      if (found?.err_code === codes.refused && /maximum/.test(found.description)) return 'full';
      throw unavailable(error);
    }
  }

  /** The record under a key, as the deciding server has it; `undefined` without one. */
  async get(key: string): Promise<ShortLivedRecord | undefined> {
    const query = { last_by_subj: this.#subject(key) };
    try {
      const { data, seq, time } = await this.#ask<StoredMsg>(() =>
        this.#log.manager.streams.getMessage(this.#options.name, query),
      );
      return { text: new TextDecoder().decode(data), at: time, revision: seq };
    } catch (error) {
      if (error instanceof NatsError && error.code === '404') return undefined;
      throw unavailable(error);
    }
  }

  /** Removes the record of a revision, if it is still there. */
  async remove(revision: number): Promise<void> {
    await this.#ask(() =>
      this.#log.manager.streams.deleteMessage(this.#options.name, revision, false).catch((error) => {
        if (!(error instanceof NatsError && error.api_error)) throw unavailable(error);
        return false;
      }),
    );
  }

  #subject(key: string): string {
    return `short-lived.${this.#options.name}.${key}`;
  }

  /** Asks the log server, and once more where the stream was gone: one in memory ends with the log server that had it. */
  async #ask<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await this.#askOnce(request);
    } catch (error) {
      if (!isGone(error)) throw error;
      return await this.#askOnce(request);
    }
  }

  /** Asks once the stream is there. One that could not be made, or is gone, is made at the next occasion. */
  async #askOnce<T>(request: () => Promise<T>): Promise<T> {
    this.#made ??= this.#make();
    const made = this.#made;
    // unless somebody else makes it again by now
    const forget = () => {
      if (this.#made === made) this.#made = undefined;
    };
    try {
      await made;
    } catch (error) {
      forget();
      throw unavailable(error);
    }
    try {
      return await this.#log.ask(request);
    } catch (error) {
      if (isGone(error)) forget();
      throw error;
    }
  }

  async #make(): Promise<void> {
    const { name, description, maxAgeMs, maxEntries, maxBytes, whenFull, storage, replicas } = this.#options;
    const { streams } = this.#log.manager;
    const changeable = {
      subjects: [`short-lived.${name}.*`],
      description,
      max_age: nanos(maxAgeMs),
      max_msgs: maxEntries,
      max_bytes: maxBytes ?? -1,
      max_msgs_per_subject: 1,
      // the usual window is longer than some records are kept, and no message here has an id
      duplicate_window: nanos(1_000),
      discard: whenFull === 'refuse' ? DiscardPolicy.New : DiscardPolicy.Old,
      num_replicas: replicas,
    };
    const lasting = {
      retention: RetentionPolicy.Limits,
      storage: storage === 'disk' ? StorageType.File : StorageType.Memory,
    };
    await this.#log.ask(async () => {
      try {
        await streams.add({ ...changeable, ...lasting, name } as Partial<StreamConfig>);
      } catch (error) {
        if (!(error instanceof NatsError && error.api_error?.err_code === codes.otherStream)) throw error;
        await streams.update(name, changeable);
      }
    });
  }
}

/** Whether the stream is not there: nobody answers what is published to it. */
function isGone(error: unknown): boolean {
  return (
    error instanceof NatsError &&
    (error.api_error?.err_code === codes.noStream || error.code === ErrorCode.NoResponders)
  );
}

/** An error of the log server in the form that callers know; every other one as it is. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof NatsError)) return error;
  const found = new Unavailable('log_unavailable', `The event log did not answer: ${error.message}`);
  found.cause = error;
  return found;
}

import type { Entry, Log, StreamDefinition } from '../../../streams/core/index.js';
import { Failed } from '../core/failure.js';

/** After this long without an answer a log that should be able to give one is given up, in milliseconds. */
const silenceMs = 15_000;
const batch = 500;

/** A part of a stream. */
export interface Range {
  /** The last sequence that does not belong to it any more. */
  after: number;
  /** The last one that does. */
  upTo: number;
  subject?: string | undefined;
  /** Wait for facts that do not exist yet; else what is there now is all. */
  follow?: boolean;
  stop: AbortSignal;
}

/**
 * The entries of a part of a stream, batch by batch. Throws `Failed` when the log falls silent, and when the
 * operator stops it, unless it follows: then that is its end.
 */
export async function* readRange(log: Log, stream: StreamDefinition, range: Range): AsyncGenerator<Entry[]> {
  const { after, upTo, subject, follow = false, stop } = range;
  if (after >= upTo) return;
  const done = new AbortController();
  const signal = AbortSignal.any([stop, done.signal]);
  let watchdog: NodeJS.Timeout | undefined;
  const watch = () => {
    watchdog = setTimeout(() => done.abort(), silenceMs);
  };
  watch();
  try {
    const options = { after, batch, signal, ...(subject ? { filter: [subject] } : {}) };
    for await (const entries of log.follow(stream, options)) {
      clearTimeout(watchdog); // while the reader works on them nobody is silent
      const last = entries.at(-1);
      if (last && entries[0]!.seq <= upTo) yield entries.filter(({ seq }) => seq <= upTo);
      // an empty batch: all that was there has been seen
      if (last ? last.seq >= upTo : !follow) return;
      if (!follow) watch();
    }
  } finally {
    clearTimeout(watchdog);
    done.abort();
  }
  if (!stop.aborted)
    throw new Failed(`the event log has been silent for ${silenceMs / 1_000} s`, 'log_unavailable');
  if (!follow) throw new Failed('interrupted', 'interrupted');
}

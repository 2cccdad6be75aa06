import type { Logger } from 'pino';
import { boundedCache } from '../../../streams/core/index.js';

/** So many ids are remembered at most, so that each is told of once; the oldest are forgotten first. */
const mostRemembered = 1_000;

/** Takes note of events that came again under a known id with another body: all are counted, each id is logged once. */
export class ConflictingEvents {
  readonly #logger: Logger;
  readonly #count: () => void;
  readonly #told = boundedCache<string, true>(mostRemembered);

  constructor(logger: Logger, count: () => void) {
    this.#logger = logger;
    this.#count = count;
  }

  note(event_id: string): void {
    this.#count();
    if (this.#told.has(event_id)) return;
    this.#told.set(event_id, true);
    // not what is in it: that is the producer's
    this.#logger.warn({ event_id }, 'a known event came again with another body: the first one counts');
  }
}

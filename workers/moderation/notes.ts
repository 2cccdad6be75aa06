import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { boundedCache } from '../../streams/core/index.js';

/** Incidents that nothing is done about, in an hour: of one person, and in all. They are on record for good. */
const mostNotes = { ofPerson: 10, inAll: 300 } as const;
const hourMs = 3_600_000;
/** Persons whose count is known; the one silent for longest is forgotten. */
const mostPersons = 10_000;

/** Counts the incidents that are recorded and nothing more, so that nobody fills the record with them. */
export class Notes {
  readonly #logger: Logger;
  readonly #most: { ofPerson: number; inAll: number };
  readonly #ofPerson = boundedCache<string, number>(mostPersons);
  #inAll = 0;
  #passedOver = 0;
  #endsAt = 0;

  constructor(logger: Logger, { inAll = mostNotes.inAll }: { inAll?: number } = {}) {
    this.#logger = logger;
    this.#most = { ...mostNotes, inAll };
  }

  /** Whether one more of this person is recorded in this hour. Those passed over are logged, once an hour. */
  take(person: string): boolean {
    const now = clock.elapsed();
    if (now >= this.#endsAt) {
      this.#ofPerson.clear();
      this.#inAll = 0;
      this.#passedOver = 0;
      this.#endsAt = now + hourMs;
    }
    const count = this.#ofPerson.get(person) ?? 0;
    if (count >= this.#most.ofPerson || this.#inAll >= this.#most.inAll) {
      if (this.#passedOver++ === 0)
        this.#logger.warn(
          { person, ...this.#most },
          'incidents of level LOG are passed over until the hour ends',
        );
      return false;
    }
    this.#ofPerson.set(person, count + 1);
    this.#inAll += 1;
    return true;
  }
}

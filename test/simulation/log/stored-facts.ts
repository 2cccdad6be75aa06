import {
  decodeFact,
  type FactOf,
  type Recorded,
  type StreamDefinition,
} from '../../../streams/core/index.js';
import type { SimulatedLogServer } from './server.js';

/** The facts of a stream that a log server has stored. Reading them takes no time and meets no faults. */
export class StoredFacts<S extends StreamDefinition> {
  readonly #server: SimulatedLogServer;
  readonly #definition: S;
  #readUpTo = 0;

  constructor(server: SimulatedLogServer, definition: S) {
    this.#server = server;
    this.#definition = definition;
  }

  /** Those that came since the last call, in their order. */
  read(): Recorded<FactOf<S>>[] {
    const stream = this.#server.streams.get(this.#definition.name)?.stream;
    const facts: Recorded<FactOf<S>>[] = [];
    for (; stream && this.#readUpTo < stream.lastSeq; this.#readUpTo++) {
      const message = stream.get(this.#readUpTo + 1);
      if (!message) continue;
      const { data, subject, seq, at } = message;
      facts.push(decodeFact(this.#definition, data, { subject, seq, at: new Date(at) }));
    }
    return facts;
  }
}

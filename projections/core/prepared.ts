import { type Tx, wireParam } from './sql.js';

/**
 * Work that begins before its transaction does. What it computes up to its first answer, its parameters on the
 * wire included, is done while the store still writes the transaction before.
 */
export class Prepared {
  readonly #done: Promise<void>;
  #begin!: (tx: Tx) => void;

  constructor(work: (tx: Tx) => Promise<void>) {
    const begun = new Promise<Tx>((resolve) => {
      this.#begin = resolve;
    });
    const tx: Tx = {
      query: async (text, params) => {
        const wire = params?.map(wireParam);
        return await (await begun).query(text, wire);
      },
    };
    this.#done = (async () => await work(tx))();
    this.#done.catch(() => {}); // noticed when it is run, if it ever is
  }

  /** Sends what is ready and lets the work go on in a transaction, once; throws what the work throws. */
  async run(tx: Tx): Promise<void> {
    this.#begin(tx);
    await this.#done;
  }
}

/** Runs what concerns one name one after another, and what concerns different ones side by side. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work behind whatever else is under way under this name, and gives back what it gives back. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before ? before.then(work, work) : work();
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}

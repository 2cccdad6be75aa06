/** Channels that must be looked at before it is known that nothing of them was missed. */
export class Outstanding {
  readonly #channels = new Set<string>();
  #until = Number.POSITIVE_INFINITY;

  /** All of a channel is known up to a time, in milliseconds since 1970; what came later is looked for. */
  add(channel: string, until: number): void {
    this.#until = this.#channels.size === 0 ? until : Math.min(until, this.#until);
    this.#channels.add(channel);
  }

  /** All of it that can be found was seen. */
  done(channel: string): void {
    this.#channels.delete(channel);
  }

  /** Up to which time all is known of all these channels; `undefined` without any. */
  get until(): number | undefined {
    return this.#channels.size === 0 ? undefined : this.#until;
  }
}

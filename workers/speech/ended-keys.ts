import type { Logger } from 'pino';

/** Tells which actors of facts are keys that are no longer valid. */
export type LookForEnded = (actors: readonly string[]) => Promise<ReadonlySet<string>>;

/** Keys that are no longer valid. Where that cannot be told they count as valid: a later look tells. */
export class EndedKeys {
  readonly #look: LookForEnded;
  readonly #logger: Logger;

  constructor(look: LookForEnded, logger: Logger) {
    this.#look = look;
    this.#logger = logger;
  }

  /** Those of the actors that are such keys. */
  async among(actors: readonly string[]): Promise<ReadonlySet<string>> {
    try {
      return await this.#look(actors);
    } catch (err) {
      this.#logger.warn({ err }, 'whether keys of agents are good is looked up later');
      return new Set();
    }
  }

  async has(actor: string): Promise<boolean> {
    return (await this.among([actor])).has(actor);
  }
}

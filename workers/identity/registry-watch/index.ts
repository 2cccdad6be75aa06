import type { Logger } from 'pino';
import type { Read } from '../../../projections/core/projection.js';
import { type VerifiedLink, verifiedLinks } from '../../../projections/identity/queries.js';
import { clock } from '../../../streams/core/clock.js';
import { pause } from '../../../streams/core/index.js';
import type { IdentityRegistry } from '../index.js';

/** What the worker works with. */
export interface WatchRegistryOptions {
  registry: IdentityRegistry;
  /** Agent ids of wallets, by wallet in lower case; throws when the chain cannot be asked. */
  agents: { agentsOf(wallets: readonly string[]): Promise<Map<string, number>> };
  /** Reads the read model of links. */
  read: Read;
  /** Pauses before the first look and between looks, in milliseconds: half a minute and an hour by default. */
  schedule?: { firstMs: number; everyMs: number };
  logger: Logger;
}

/** What one look at the chain came to. */
export interface Look {
  links: number;
  changed: number;
}

const usualSchedule = { firstMs: 30_000, everyMs: 3_600_000 };
/** Wallets in one question to the chain. */
const page = 100;
const actor = 'watch-registry';

/** Looks once an hour which agent ids verified wallets have on the chain, and has changes recorded. */
export class WatchRegistry {
  readonly #options: WatchRegistryOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: WatchRegistryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Looks at all verified links; what the chain does not tell stays as it is. */
  async look(): Promise<Look> {
    const { read } = this.#options;
    const seen: Look = { links: 0, changed: 0 };
    for (let after = ''; !this.#stop.signal.aborted; ) {
      const links = await read((sql, schema) => verifiedLinks(sql, schema, after, page));
      if (links.length === 0) break;
      seen.links += links.length;
      seen.changed += await this.#compare(links);
      after = links.at(-1)!.nick;
    }
    return seen;
  }

  async #compare(links: VerifiedLink[]): Promise<number> {
    const { agents, registry } = this.#options;
    const found = await agents.agentsOf(links.map(({ wallet_address }) => wallet_address));
    let changed = 0;
    for (const { nick, wallet_address, agent_id } of links) {
      const now = found.get(wallet_address.toLowerCase()) ?? null;
      if (now === agent_id) continue;
      const { fact } = await registry.noteAgent(nick, wallet_address, now, actor);
      if (fact) changed += 1;
    }
    return changed;
  }

  async #run(): Promise<void> {
    const { logger, schedule = usualSchedule } = this.#options;
    const { signal } = this.#stop;
    for (let pauseMs = schedule.firstMs; ; pauseMs = schedule.everyMs) {
      await pause(pauseMs, signal);
      if (signal.aborted) return;
      const started = clock.elapsed();
      try {
        logger.info(
          { ...(await this.look()), ms: Math.round(clock.elapsed() - started) },
          'agent ids looked up',
        );
      } catch (error) {
        logger.warn({ err: error }, 'agent ids cannot be looked up now');
      }
    }
  }
}

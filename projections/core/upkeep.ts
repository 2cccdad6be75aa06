import type { Logger } from 'pino';
import { type Log, Refusal } from '../../streams/core/index.js';
import { operations, projectionSubject } from '../../streams/operations/facts.js';
import { dropBuild, emptyBuild, ensureBuild, readBuilds } from './builds.js';
import type { KnownBuilds } from './known-builds.js';
import type { Sql } from './sql.js';
import { isAheadOfLog, type ProjectionStatus } from './status.js';

/** What the upkeep of read models works with. */
export interface UpkeepOptions {
  log: Log;
  sql: Sql;
  known: KnownBuilds;
  logger: Logger;
  /** Looks at the registry and at the log, and acts on what it sees. */
  look(): Promise<void>;
  status(): Promise<ProjectionStatus[]>;
}

/** What operators do about read models. */
export class Upkeep {
  readonly #options: UpkeepOptions;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  /**
   * Starts a rebuild of a read model next to the one that is read. Any process that folds the model takes it
   * up.
   */
  async rebuild(name: string): Promise<{ name: string; version: number; schema: string }> {
    const { known, sql, logger, look } = this.#options;
    const projection = known.projection(name);
    const { version } = projection;
    const builds = await readBuilds(sql);
    const last = builds.findLast((build) => build.name === name && build.version === version);
    const { schema, generation } = emptyBuild(projection, (last?.generation ?? 0) + 1);
    await ensureBuild(sql, projection, generation);
    logger.info({ schema }, 'read model is built again');
    await look();
    return { name, version, schema };
  }

  /**
   * Records the command to skip the fact that a read model halted at. Throws `Refusal` if it did not halt
   * there, or no fact is to blame.
   */
  async skip(
    name: string,
    command: { stream: string; seq: number; reason: string; by: string },
  ): Promise<void> {
    const { known, log, look, status } = this.#options;
    const { version } = known.projection(name);
    const { stream, seq, reason, by } = command;
    await look();
    const halted = (await status()).filter(
      (it) => it.name === name && it.error?.stream === stream && it.error.seq === seq,
    );
    if (halted.length === 0) throw new Refusal('not_halted', `${name} has not halted at ${stream} ${seq}`);
    // skipping a fact would change nothing: none is to blame
    if (halted.every(isAheadOfLog)) throw new Refusal('ahead_of_log', halted[0]!.error!.message);
    const data = { projection: name, version, stream, seq, reason };
    await log.append(operations, projectionSubject(name), { type: 'fact.skipped', data }, { by });
  }

  /** Names of the schemas that `prune` would remove, as far as this process knows. */
  unused(): string[] {
    return this.#options.known.unused.map(({ schema }) => schema);
  }

  /**
   * Removes the builds that this version no longer reads, and those of read models that it does not have.
   * Builds of newer versions stay. Returns the names of the removed schemas.
   */
  async prune(): Promise<string[]> {
    const { known, sql, logger, look } = this.#options;
    const dropped: string[] = [];
    await known.read();
    for (const build of known.unused) {
      await dropBuild(sql, build.schema);
      logger.info({ schema: build.schema }, 'read model dropped');
      dropped.push(build.schema);
    }
    await look();
    return dropped;
  }
}

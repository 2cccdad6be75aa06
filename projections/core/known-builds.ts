import { clock } from '../../streams/core/clock.js';
import { Refusal, type StreamDefinition } from '../../streams/core/index.js';
import { activeBuild, type Build, buildsToFold, emptyBuild, readBuilds, unusedBuilds } from './builds.js';
import type { Projection } from './projection.js';
import type { Sql } from './sql.js';

/** The registry of builds as a process has last read it, and what of it concerns the read models of this version. */
export class KnownBuilds {
  readonly #sql: Sql;
  readonly #projections: ReadonlyMap<string, Projection>;
  #builds: Build[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sql: Sql, projections: readonly Projection[]) {
    this.#sql = sql;
    this.#projections = new Map(projections.map((projection) => [projection.name, projection]));
  }

  get all(): Build[] {
    return this.#builds;
  }

  /** Milliseconds since the registry was read. */
  get ageMs(): number {
    return clock.elapsed() - this.#readAt;
  }

  get projections(): Projection[] {
    return [...this.#projections.values()];
  }

  /** The streams that the read models are made of. */
  get streams(): Set<StreamDefinition> {
    return new Set(this.projections.flatMap(({ streams }) => streams));
  }

  /** Throws `not_found` where this version has no such read model. */
  projection(name: string): Projection {
    const projection = this.#projections.get(name);
    if (!projection) throw new Refusal('read_model_not_found', `There is no read model ${name}`);
    return projection;
  }

  async read(): Promise<void> {
    this.#builds = await readBuilds(this.#sql);
    this.#readAt = clock.elapsed();
  }

  /** The build that queries of a read model go to, if there is one already. */
  active(projection: Projection): Build | undefined {
    return activeBuild(this.#builds, projection);
  }

  /** The builds that a process with this code folds, also one that the store does not have yet. */
  toFold(projection: Projection): Build[] {
    const builds = buildsToFold(this.#builds, projection);
    return builds.length > 0 ? builds : [emptyBuild(projection, 1)];
  }

  /** The builds that this version reads no more, and those of read models that it does not have. */
  get unused(): Build[] {
    return unusedBuilds(this.#builds, this.#projections);
  }
}

import type { Build } from '../../../projections/core/builds.js';
import type { Projection } from '../../../projections/core/projection.js';
import type { Sql } from '../../../projections/core/sql.js';
import type { Recorded } from '../../../streams/core/index.js';
import type { SimulatedLogServer } from '../log/server.js';
import { StoredFacts } from '../log/stored-facts.js';
import type { Random } from '../random.js';
import type { Stage } from '../scenario.js';
import type { SimulatedStore } from '../store/server.js';

/** Faults that undo commits: a position may be lower than it was. */
const losing = ['store: crash', 'store: lost all that it had'];
/** A crash undoes commits once the store has come to it, and it is away for a while. */
const lostWithinMs = 15_000;
const lookEveryMs = 500;

/** Judges that a build never loses what it has folded, unless its store lost it. */
export class Positions {
  readonly #stage: Stage;
  readonly #store: SimulatedStore;
  #known = new Map<string, number>();
  #losses = 0;
  #lostUntil = 0;

  constructor(stage: Stage, store: SimulatedStore) {
    this.#stage = stage;
    this.#store = store;
  }

  /** Looks at them again and again, for so many simulated milliseconds. */
  async watch(ms: number): Promise<void> {
    const { world } = this.#stage;
    const end = world.elapsed + ms;
    while (world.elapsed < end) {
      await this.#look();
      await this.#stage.pass(lookEveryMs);
    }
  }

  async #look(): Promise<void> {
    const { faults } = this.#stage;
    const found = await this.#store
      .look<Pick<Build, 'schema' | 'positions'>>('select schema, positions from projections.builds')
      .catch(() => []); // there is no registry before the first process
    const losses = losing.reduce((sum, name) => sum + (faults[name] ?? 0), 0);
    const { elapsed } = this.#stage.world;
    if (losses !== this.#losses) this.#lostUntil = elapsed + lostWithinMs;
    if (elapsed < this.#lostUntil) this.#known.clear();
    this.#losses = losses;
    for (const { schema, positions } of found)
      for (const [stream, position] of Object.entries(positions)) {
        const key = `${schema} ${stream}`;
        const before = this.#known.get(key) ?? 0;
        this.#stage.check(
          'positions never go back',
          position >= before,
          () => `${key}: ${position} < ${before}`,
        );
        this.#known.set(key, position);
      }
  }
}

/** Folds the whole log again, in other batches, and compares the rows. */
export class FoldedAnew {
  readonly #stage: Stage;
  readonly #logServer: SimulatedLogServer;
  readonly #sql: Sql;
  readonly #random: Random;

  constructor(stage: Stage, logServer: SimulatedLogServer, sql: Sql, random: Random) {
    this.#stage = stage;
    this.#logServer = logServer;
    this.#sql = sql;
    this.#random = random;
  }

  /** Judges that a read model has the rows that the log gives, without the facts that it skipped. */
  async compare(
    projection: Projection,
    isPassedOver: (fact: Recorded) => boolean = () => false,
  ): Promise<void> {
    const { name, streams } = projection;
    const sql = this.#sql;
    const anew = `anew_${name}`;
    await sql.query(`create schema ${anew}; ${projection.ddl(anew)}`);
    const size = this.#random.pick([1, 7, 1_000]);
    for (const stream of streams) {
      const facts = new StoredFacts(this.#logServer, stream).read().filter((fact) => !isPassedOver(fact));
      for (let from = 0; from < facts.length; from += size) {
        const batch = facts.slice(from, from + size);
        await sql.transaction((tx) => projection.apply(tx, batch, anew));
      }
    }
    const builds = await sql.query<{ schema: string }>(
      'select schema from projections.builds where name = $1 and caught_up_at is not null order by generation',
      [name],
    );
    const { schema } = builds.at(-1)!;
    const tables = await sql.query<{ table: string }>(
      `select table_name as table from information_schema.tables where table_schema = $1 order by 1`,
      [anew],
    );
    for (const { table } of tables) {
      const [had, has] = [await this.#rows(`${schema}.${table}`), await this.#rows(`${anew}.${table}`)];
      const found = () => `${schema}.${table}:\n${had}\nanew, by ${size}:\n${has}`;
      this.#stage.check('a read model has what the log gives, in any batches', had === has, found);
    }
  }

  async #rows(table: string): Promise<string> {
    const rows = await this.#sql.query<{ row: string }>(`select t::text as row from ${table} t order by 1`);
    return rows.map(({ row }) => row).join('\n');
  }
}

import { defineProjection, type Projection } from '../../../projections/core/projection.js';
import { Projector } from '../../../projections/core/projector.js';
import { identityLinks } from '../../../projections/identity/links.js';
import { reputations } from '../../../projections/reputation/tables.js';
import { type Log, pause, type StreamDefinition } from '../../../streams/core/index.js';
import { type IdentityFact, identity } from '../../../streams/identity/index.js';
import { irc } from '../../../streams/network/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { feedbackSubject, type ReputationFact, reputation } from '../../../streams/reputation/facts.js';
import { logFaults } from '../log/faults.js';
import { SimulatedLogServer } from '../log/server.js';
import { end, type Place, Process, type Running, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { startEngine } from '../store/engine.js';
import { storeFaults } from '../store/faults.js';
import { SimulatedStore } from '../store/server.js';
import { FoldedAnew, Positions } from './folded.js';

const nicks = ['alice', 'bob', 'carol', 'dave'];
const poison = 'cannot be folded';

/** It cannot fold some facts; readers of the other models must not notice. */
const brittle = defineProjection({
  name: 'brittle',
  version: 1,
  streams: [reputation],
  ddl: (schema) => `create table ${schema}.comments (seq bigint primary key, comment text not null)`,
  apply: async (tx, facts, schema) => {
    for (const { seq, type, data } of facts) {
      if (type !== 'feedback.given') continue;
      if (data.comment === poison) throw new Error(poison);
      await tx.query(`insert into ${schema}.comments values ($1, $2)`, [seq, data.comment]);
    }
  },
});
const sound: readonly Projection[] = [identityLinks, reputations];
const streams: StreamDefinition[] = [identity, irc, reputation, operations];

const busyMs = 40_000;
const faultsPerRun = 20;
const factsPerRun = 120;
const poisonsPerRun = 2;
const rebuildsPerRun = 2;
/** The sum of: a store that is away, a stall, and a full rebuild. */
const calmWithinMs = 120_000;

/** Read models are folded in two processes in parallel, while the store, the log and the processes fail. */
export const projector: Scenario = {
  name: 'projector',
  says: 'read models that two processes fold, in batches of any size, with one that halts and is helped on',
  kept: [1697277205, 1861085835, 1142962740, 2075112528],
  boundMs: 900_000,
  prepare: startEngine,
  play: async (stage) => {
    const store = await SimulatedStore.open(stage.world);
    await new Projecting(stage, store).play();
  },
};

/** A process that folds. */
interface Folder extends Running {
  projector: Projector;
}

class Projecting {
  readonly #stage: Stage;
  readonly #store: SimulatedStore;
  readonly #random: Random;
  readonly #logServer: SimulatedLogServer;
  readonly #around: Surroundings;
  readonly #places: Place<Folder>[];
  readonly #writer: Process;
  readonly #positions: Positions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(stage: Stage, store: SimulatedStore) {
    const { world } = stage;
    this.#stage = stage;
    this.#store = store;
    this.#random = stage.fork();
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#around = { stage, logServer: this.#logServer, expected: /^read model halted$/ };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#writer = new Process('writer', this.#around);
    this.#positions = new Positions(stage, store);
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const log = await this.#writer.openLog(streams);
    const starting = this.#places.map((place) => place.start());
    const at = () => this.#random.int(500, busyMs);
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(at());
    for (let n = 0; n < factsPerRun; n++) stage.plan(at(), 'a fact', (random) => this.#write(random, log));
    for (let n = 0; n < poisonsPerRun; n++)
      stage.planFault(at(), 'poison', (random) => this.#append(log, reputation, ...rating(random, poison)));
    for (let n = 0; n < rebuildsPerRun; n++) stage.plan(at(), 'a rebuild', (random) => this.#rebuild(random));
    const watching = this.#positions.watch(busyMs);
    await stage.pass(busyMs);
    this.#logServer.heal();
    this.#store.heal();
    await Promise.all([...starting, ...this.#underWay, watching]);
    // asked of the server itself: the writer may not have noticed yet that its connection is cut
    const headOf = ({ name }: StreamDefinition) => this.#logServer.streams.get(name)!.stream.lastSeq;
    const heads = { reputation: headOf(reputation), identity: headOf(identity) };
    const behind = () => this.#behind(sound);
    await stage.within(calmWithinMs, 'read models come to have everything', () => behind() === '', behind);
    await this.#helpOn(heads.reputation);
    await this.#reached(heads);
    const sql = this.#store.connect();
    const anew = new FoldedAnew(stage, this.#logServer, sql, this.#random.fork());
    for (const projection of sound) await anew.compare(projection);
    await anew.compare(brittle, ({ data }) => (data as { comment?: string }).comment === poison);
    await sql.close();
    await end(this.#around, this.#places);
    await log.close();
    await stage.pass(20_000);
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Folder> {
    const { logger } = process;
    const log = await process.openLog(streams);
    const sql = this.#store.connect();
    const batch = this.#random.pick([1, 3, 20, 1_000]);
    const projections = [...sound, brittle];
    const folding = { log, sql, projections, logger, batch };
    const projector = new Projector({ ...folding, watchMs: 2_000, skipPollMs: 500 });
    await projector.start();
    return {
      projector,
      stop: async () => {
        await projector.stop();
        await log.close();
        await sql.close();
      },
    };
  }

  #planFault(at: number): void {
    const stage = this.#stage;
    const kind = this.#random.int(0, 9);
    if (kind < 5) {
      const fault = this.#random.pick(storeFaults);
      stage.planFault(at, fault.name, (random) => fault.strike(this.#store, stage.world, random));
    } else if (kind < 8) {
      const fault = this.#random.pick(logFaults.filter(({ name }) => name !== 'set clock'));
      stage.planFault(at, `log: ${fault.name}`, (random) =>
        fault.strike(this.#logServer, stage.world, random),
      );
    } else stage.planFault(at, 'killed process', (random) => random.pick(this.#places).kill(random));
  }

  #write(random: Random, log: Log): void {
    if (random.chance(0.5)) this.#append(log, reputation, ...rating(random, `no. ${random.int(1, 99)}`));
    else this.#append(log, identity, 'identity.registry', linkChange(random));
  }

  #rebuild(random: Random): void {
    const { program } = random.pick(this.#places);
    const rebuilt = program?.projector.upkeep.rebuild(random.pick(sound).name);
    // the store may be away, and the caller would ask again
    if (rebuilt) this.#follow(rebuilt.then(() => this.#stage.count('rebuilds')).catch(() => {}));
  }

  /** What the processes have not folded yet of these read models, as one of them says. */
  #behind(projections: readonly Projection[]): string {
    const folders = this.#folders();
    if (folders.length < this.#places.length) return 'a process is not there';
    const isBehind = ({ projector }: Folder) =>
      !projections.every(({ name }) => projector.stateOf(name)) || !projector.caughtUp();
    return folders.some(isBehind) ? 'not all is folded' : '';
  }

  #folders(): Folder[] {
    return this.#places.flatMap(({ program }) => program ?? []);
  }

  /** An operator makes the halted read model skip the facts that it cannot fold, until it is at the end of its stream. */
  async #helpOn(head: number): Promise<void> {
    const { projector } = this.#folders()[0]!;
    for (let looks = 0; looks < calmWithinMs / 1_000; looks++) {
      const [status] = (await projector.status()).filter(({ name }) => name === brittle.name);
      if (status?.error) {
        const { stream, seq } = status.error;
        const command = { stream, seq, reason: 'known', by: 'operator' };
        await projector.upkeep.skip(brittle.name, command).then(
          () => this.#stage.count('facts passed over'),
          () => {},
        );
      } else if (status?.state === 'live' && status.streams.every(({ position }) => position >= head)) return;
      await pause(1_000);
    }
    this.#stage.check('who passes over poison gets to the end', false, 'not in time');
  }

  /** From now on, every answer of every process is based on all facts. */
  async #reached(heads: { reputation: number; identity: number }): Promise<void> {
    const positions = [
      { name: identityLinks.name, at: { stream: identity.name, seq: heads.identity } },
      ...[reputations, brittle].map(({ name }) => ({
        name,
        at: { stream: reputation.name, seq: heads.reputation },
      })),
    ];
    for (const { projector } of this.#folders())
      for (const { name, at } of positions)
        this.#stage.check(
          'who waits for a position is answered',
          await projector.reached(name, at, 20_000),
          name,
        );
  }

  #append<S extends StreamDefinition>(
    log: Log,
    stream: S,
    subject: string,
    fact: Parameters<typeof log.append<S>>[2],
  ): void {
    const append = async () => {
      for (let tries = 0; tries < 10; tries++) {
        const isDone = await log.append(stream, subject, fact, { by: 'writer' }).then(
          () => true,
          () => false,
        );
        if (isDone) return;
        await pause(1_000);
      }
    };
    this.#follow(append());
  }

  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}

/** Somebody rates somebody. */
function rating(random: Random, comment: string): [string, ReputationFact] {
  const [from, nick] = random.shuffled(nicks) as [string, string];
  const rated = { from, nick, channel: '#lobby' };
  const day = `2026-01-${random.pick(['30', '31'])}`;
  const data = { ...rated, rating: random.int(1, 5), comment, day };
  return [feedbackSubject(rated), { type: 'feedback.given', data }];
}

/** A nick is linked to a wallet, or unlinked. */
function linkChange(random: Random): IdentityFact {
  const nick = random.pick(nicks);
  const wallet_address = `0x${String(random.int(1, 3)).repeat(40)}`;
  if (random.chance(0.3))
    return { type: 'identity.unlinked', data: { nick, wallet_address, sync_version: random.int(1, 9) } };
  return { type: 'identity.linked', data: { nick, wallet_address, identified: random.chance(0.5) } };
}

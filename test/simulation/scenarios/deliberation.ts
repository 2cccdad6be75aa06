import { deliberationArea } from '../../../src/app/areas/deliberation.js';
import { readConfig } from '../../../src/config/config.js';
import type { ReadModels } from '../../../src/stores/read-models.js';
import { type Log, pause } from '../../../streams/core/index.js';
import {
  deliberation as deliberationFacts,
  type QueryCommand,
  queryDecider,
  strategies,
} from '../../../streams/deliberation/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { loadOpenAi } from '../../../workers/deliberation/model.js';
import { hostFaults } from '../http/faults.js';
import { SimulatedModels, tokenNanoUsd } from '../http/models.js';
import { type Host, Outside } from '../http/outside.js';
import { logFaults } from '../log/faults.js';
import { SimulatedLogServer } from '../log/server.js';
import { end, type Place, Process, type Running, type Surroundings, twoPlaces } from '../process.js';
import type { Random } from '../random.js';
import type { Scenario, Stage } from '../scenario.js';
import { Deliberated } from './deliberated.js';

const streams = [deliberationFacts, operations];
const providers = ['alpha', 'beta', 'gamma'] as const;

const busyMs = 50_000;
const faultsPerRun = 18;
const queriesPerRun = 20;
const injectionsPerRun = 8;
const queriesInCalm = 3;
const callTimeoutMs = 8_000;
/** Three rounds and a synthesis, each after pauses and lost answers, and others before it. */
const calmWithinMs = 240_000;

/** Queries are put to models, while providers, the log and the processes fail. */
export const deliberation: Scenario = {
  name: 'deliberation',
  says: 'who asks models, round by round, and draws their answers together, in two processes',
  kept: [7009, 7022, 7031, 40045],
  boundMs: 900_000,
  // the product loads it with its first call: in real time, which no seed decides
  prepare: loadOpenAi,
  play: (stage) => new Deliberating(stage).play(),
};

class Deliberating {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #logServer: SimulatedLogServer;
  readonly #models: SimulatedModels;
  readonly #hosts: Host[];
  readonly #deliberated: Deliberated;
  readonly #around: Surroundings;
  readonly #places: Place<Running>[];
  readonly #asker: Process;
  readonly #ids: string[] = [];
  readonly #underWay = new Set<Promise<void>>();

  constructor(stage: Stage) {
    const { world } = stage;
    this.#stage = stage;
    this.#random = stage.fork();
    this.#logServer = new SimulatedLogServer(world, { isNew: this.#random.chance(0.5) });
    this.#models = new SimulatedModels(stage);
    this.#deliberated = new Deliberated(stage, this.#logServer, this.#models);
    const outside = new Outside(world);
    this.#hosts = providers.map((name) => outside.host(`${name}.test`, (asked) => this.#models.serve(asked)));
    this.#around = { stage, logServer: this.#logServer, outside };
    this.#places = twoPlaces(this.#around, (process) => this.#begin(process));
    this.#asker = new Process('asker', this.#around);
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    const log = await this.#asker.openLog(streams);
    const starting = this.#places.map((place) => place.start());
    const at = () => this.#random.int(1_000, busyMs);
    for (let n = 0; n < faultsPerRun; n++) this.#planFault(at());
    for (let n = 0; n < queriesPerRun; n++) stage.plan(at(), 'a query', (random) => this.#ask(random, log));
    for (let n = 0; n < injectionsPerRun; n++)
      stage.plan(at(), 'more to think of', (random) => this.#inject(random, log));
    await stage.pass(busyMs);
    for (const host of this.#hosts) host.heal();
    this.#logServer.heal();
    this.#models.called = () => {};
    this.#models.thinksMs = 1_500;
    await Promise.all([...starting, ...this.#underWay]);
    await this.#settle();
    // until no second process believes that the work is its own
    await stage.pass(15_000);
    const calmFrom = stage.world.now;
    for (let n = 0; n < queriesInCalm; n++) this.#ask(this.#random.fork(), log);
    await Promise.all(this.#underWay);
    await this.#settle();
    this.#deliberated.judge(calmFrom);
    await end(this.#around, this.#places);
    await log.close();
    await stage.pass(20_000);
    this.#logServer.close();
  }

  async #begin(process: Process): Promise<Running> {
    const { logger, name: holder } = process;
    const log = await process.openLog(streams);
    const prices = { in: tokenNanoUsd.in / 1_000, out: tokenNanoUsd.out / 1_000 };
    const MODELS = providers.map((name, index) => ({
      id: name,
      provider: name,
      name,
      baseUrl: process.addressOf(`${name}.test`),
      prices,
      apiKey: undefined,
      apiKeyEnv: undefined,
      capabilities: [],
      synthesizer: false,
      stream: index !== 1,
      tokensParameter: 'max_tokens' as const,
    }));
    const config = { ...readConfig({}), MODELS, DELIBERATION_CALL_TIMEOUT_MS: callTimeoutMs };
    const { workers } = deliberationArea({ config, log, logger, holder, readModels: {} as ReadModels });
    for (const worker of workers!) worker.start();
    return {
      stop: async () => {
        await Promise.all(workers!.map((worker) => worker.stop()));
        await log.close();
      },
    };
  }

  #planFault(at: number): void {
    const stage = this.#stage;
    const kind = this.#random.int(0, 9);
    if (kind < 4) {
      const fault = this.#random.pick(hostFaults);
      stage.planFault(at, fault.name, (random) =>
        fault.strike(random.pick(this.#hosts), stage.world, random),
      );
    } else if (kind < 5) {
      stage.planFault(at, 'models think long', (random) => {
        this.#models.thinksMs = random.int(2_000, 20_000);
        stage.world.after(random.int(1_000, 20_000), () => (this.#models.thinksMs = 1_500));
      });
    } else if (kind < 7) {
      const fault = this.#random.pick(logFaults.filter(({ name }) => name !== 'set clock'));
      stage.planFault(at, `log: ${fault.name}`, (random) =>
        fault.strike(this.#logServer, stage.world, random),
      );
    } else if (kind < 9)
      stage.planFault(at, 'killed while asking', (random) => {
        this.#models.called = (process) => {
          this.#models.called = () => {};
          const place = this.#places[process.startsWith('one') ? 0 : 1]!;
          stage.world.after(random.int(0, 2_000), () => place.kill(random));
        };
      });
    else stage.planFault(at, 'killed process', (random) => random.pick(this.#places).kill(random));
  }

  #ask(random: Random, log: Log): void {
    const number = this.#ids.length;
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    this.#ids.push(id);
    const models = random.shuffled(providers).slice(0, random.int(1, 3));
    const max_tokens = random.pick([50, 500]);
    // from enough for one call to more than can be spent
    const ceiling_nano_usd = random.pick([300_000, 4_000_000, 12_000_000, 1_000_000_000]);
    this.#command(log, random, {
      is: 'create',
      id,
      owner: 'asker',
      prompt: `q${number} what is to be done?`,
      system_prompt: null,
      models,
      synthesizer: models[0]!,
      strategy: random.pick(strategies),
      max_tokens,
      temperature: null,
      visibility: 'unlisted',
      ceiling_nano_usd,
    });
  }

  #inject(random: Random, log: Log): void {
    if (this.#ids.length === 0) return;
    const content = `think of ${random.int(1, 99)} too`;
    this.#command(log, random, { is: 'inject', id: random.pick(this.#ids), actor: 'asker', content });
  }

  /** Somebody asks until they are answered. */
  #command(log: Log, random: Random, command: QueryCommand): void {
    const stage = this.#stage;
    const work = (async () => {
      for (let tries = 0; tries < 8; tries++) {
        try {
          await log.handle(deliberationFacts, queryDecider, command, { by: 'asker' });
          return;
        } catch (error) {
          const { kind, stack } = error as { kind?: string; stack?: string };
          stage.check('commands are refused in known ways', kind !== undefined, () => String(stack));
          if (kind === 'refusal') return;
        }
        await pause(random.int(500, 4_000));
      }
    })();
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #settle(): Promise<void> {
    const open = () => this.#deliberated.open();
    await this.#stage.within(calmWithinMs, 'every query comes to its end', () => open() === '', open);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'nats';
import pLimit from 'p-limit';
import t, { type Test } from 'tap';
import { type Binary, findNatsServer } from '../../../src/servers/binaries.js';
import { newNatsServer, startNats, storesGroups, type TestNats } from '../../support/nats.js';
import { runIn } from '../scenario.js';
import { World } from '../world.js';
import { Script, type Server } from './model.js';
import { randomScript } from './random-script.js';
import { type Played, restarts, scripts } from './scripts.js';
import { SimulatedLogServer } from './server.js';

/**
 * The seeds whose random scripts both kinds of server run, and their length. Two more seeds are known where
 * 2.10.27 differs. After single deletions it did not find an older message of the same subject (104). After a
 * purge of some subjects a consumer did not deliver what it had (124). Our code deletes single messages only
 * on subjects without a second one, and purges a subject only at the end of an import.
 */
const seeds = Array.from({ length: 24 }, (_, n) => n + 1);
const steps = 60;
const boundMs = 600_000;
const downMs = 300;

function realServer(nats: TestNats): Server {
  return {
    connect: () =>
      connect({ servers: nats.url, reconnectTimeWait: 50, reconnectJitter: 20, maxReconnectAttempts: -1 }),
    restart: async () => {
      await nats.kill();
      await delay(downMs);
      await nats.start();
      await delay(1_000);
    },
  };
}

function simulatedServer(server: SimulatedLogServer): Server {
  return {
    connect: () => server.connect('script'),
    restart: async () => {
      server.stop({ unsyncedLost: true });
      await delay(downMs);
      server.start();
      await delay(1_000);
    },
  };
}

/** What a server answers to a script. */
async function played(
  server: Server,
  name: string,
  run: (script: Script, server: Server) => Promise<void>,
): Promise<unknown[]> {
  const script = await Script.open(server, name);
  await run(script, server);
  await script.close();
  return script.answers;
}

async function simulated(name: string, run: Played['run'], program: Binary): Promise<unknown[]> {
  const world = new World(1);
  const server = new SimulatedLogServer(world, { isNew: storesGroups(program) });
  return await runIn(world, boundMs, () => played(simulatedServer(server), name, run));
}

/** The answers as text, so that a difference is a line. */
function lines(answers: unknown[]): string[] {
  return answers.map((answer) => JSON.stringify(answer));
}

/**
 * The scripts for a server. The random scripts use only features where the older server is known to behave
 * like ours.
 */
function runsOn(program: Binary): [title: string, run: Played['run']][] {
  const age = storesGroups(program) ? 'new' : 'old';
  const written = scripts.filter(({ only }) => only === undefined || only === age);
  const runs = written.map(({ title, run }): [string, Played['run']] => [title, run]);
  if (age === 'new') return runs;
  const random = seeds.map((seed): [string, Played['run']] => [
    `seed ${seed}`,
    (script) => randomScript(script, seed, steps),
  ]);
  return [...runs, ...random];
}

async function compare(t: Test, program: Binary): Promise<void> {
  const nats = await startNats(t, { program });
  // those that wait must not be late, so not all at once
  const limit = pLimit(40);
  const real = ([, run]: [string, Played['run']], place: number) =>
    limit(() => played(realServer(nats), `S${place}`, run));
  const runs = runsOn(program);
  for (const [place, answers] of (await Promise.all(runs.map(real))).entries()) {
    const [title, run] = runs[place]!;
    t.ok(answers.length > 2, title);
    t.same(lines(await simulated(`S${place}`, run, program)), lines(answers), title);
  }
}

const found = findNatsServer();
const newer = newNatsServer();

t.test('SIM-10 the simulated log answers as the server that is found', (t) => compare(t, found));

t.test(
  'SIM-10 the simulated log answers as a server does that stores messages together',
  { skip: newer ? newer.path === found.path : 'it could not be fetched' },
  (t) => compare(t, newer!),
);

t.test('SIM-10 the simulated log is restarted as a real server is', async (t) => {
  const program = found;
  for (const [place, { title, run }] of restarts.entries()) {
    const nats = await startNats(t, { sync: 'always', program });
    const answers = await played(realServer(nats), `R${place}`, run);
    t.same(lines(await simulated(`R${place}`, run, program)), lines(answers), title);
  }
});

import t from 'tap';
import { emptyBuild } from '../../projections/core/builds.js';
import { defineProjection } from '../../projections/core/projection.js';
import { FoldingRates, statusOf } from '../../projections/core/status.js';
import { market } from '../../streams/events/index.js';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { temporaryDirectory } from '../support/sql.js';

interface Build {
  schema: string;
  state: string;
  progress: object | null;
  streams: { stream: string; state: string | null }[];
}

t.test('API-15 a rebuild tells where to look, and there how far it has come', async (t) => {
  const nats = await startNats(t);
  const start = async (roles: string, dir: string) =>
    await startApp(t, { NATS_URL: nats.url, IRC_URL: 'irc://127.0.0.1:1', ROLES: roles, DATA_DIR: dir });
  const dir = await temporaryDirectory(t);
  const first = await start('api,projections', dir);
  for (const id of ['evt-1', 'evt-2', 'evt-3']) await postEvent(first.url, sampleEvent(id));
  await fetch(`${first.url}/hooks/em/stats`); // answers when the three are folded
  await first.stop();

  // this one has a build made, and does not fold it
  const reader = await start('api', dir);
  const answer = await fetch(`${reader.url}/ops/projections/delivery_queue/rebuild`, { method: 'POST' });
  t.equal(answer.status, 202);
  const { schema } = (await answer.json()) as { schema: string };
  const location = answer.headers.get('location');
  t.equal(location, '/ops/projections/delivery_queue');
  const buildsOf = async (url: string) => {
    const { name, builds } = (await (await fetch(url + location)).json()) as {
      name: string;
      builds: Build[];
    };
    t.equal(name, 'delivery_queue');
    return builds;
  };
  const [read, built] = await buildsOf(reader.url);
  t.match(read, { state: 'live', progress: null });
  t.match(built, { schema, state: 'building', streams: [{ stream: 'MARKET', state: null }, {}] });
  const progress = { position: 0, head: 3, fraction: 0, facts_per_second: 0, seconds_left: null };
  const later = await eventually('a pace', async () =>
    (await buildsOf(reader.url)).find(
      (one) => (one.progress as typeof progress | null)?.facts_per_second !== null && one.progress,
    ),
  );
  t.match(later.progress, progress);
  const all = (await (await fetch(`${reader.url}/ops/projections`)).json()) as { projections: Build[] };
  t.match(all.projections[1]?.progress, { position: 0, head: 3 });
  await reader.stop();

  const folder = await start('api,projections', dir);
  const live = await eventually('the new build to be live', async () =>
    (await buildsOf(folder.url)).find((one) => one.schema === schema && one.state === 'live'),
  );
  t.match(live, { progress: null, streams: [{ stream: 'MARKET', state: 'folding' }, {}] });
  const pruned = await fetch(`${folder.url}/ops/projections/prune`, { method: 'POST' });
  t.same(await pruned.json(), { dropped: [read?.schema] });

  t.equal((await fetch(`${folder.url}/ops/projections/nothing`)).status, 404);
  const skip = await fetch(`${folder.url}/ops/projections/delivery_queue/skip`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stream: 'MARKET', seq: 'two' }),
  });
  t.equal(skip.status, 400);
  t.same(await skip.json(), {
    error: 'seq must be a number; reason is missing',
    code: 'validation_failed',
    details: [
      { path: 'seq', message: 'seq must be a number' },
      { path: 'reason', message: 'reason is missing' },
    ],
  });
});

t.test('API-15 how fast a build moves, and how long it takes', async (t) => {
  let now = 0;
  const rates = new FoldingRates(() => now);
  const projection = defineProjection({
    name: 'sample',
    version: 1,
    streams: [market],
    ddl: () => '',
    apply: async () => {},
  });
  const at = (time: number, position: number) => {
    now = time;
    const build = { ...emptyBuild(projection, 1), positions: { MARKET: position } };
    const heads = new Map([['MARKET', 10_000]]);
    return statusOf(projection, build, { isRead: false, folds: [], heads, rates }).progress;
  };
  t.same(at(0, 0), { position: 0, head: 10_000, fraction: 0, factsPerSecond: null, secondsLeft: null });
  t.match(at(1_000, 1_000), { fraction: 0.1, factsPerSecond: 1_000, secondsLeft: 9 });
  t.match(at(2_000, 3_000), { fraction: 0.3, factsPerSecond: 1_500 });
  t.match(at(50_000, 3_000), { factsPerSecond: 0, secondsLeft: null }, 'the store stood still for long');
  t.match(at(90_000, 7_000), { factsPerSecond: 100, secondsLeft: 30 }, 'what was before is forgotten');
  t.match(at(91_000, 500), { factsPerSecond: null }, 'it went back');
  rates.keep(new Set());
  t.match(at(92_000, 600), { factsPerSecond: null }, 'it is another one');
});

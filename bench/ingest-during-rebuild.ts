import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Row } from './support/bench.js';
import { signed, taskEvent } from './support/events.js';
import { milliseconds, percentile } from './support/figures.js';
import { atRate, type Post, poster } from './support/load.js';
import { openLog, seedQueue } from './support/log.js';
import { startNats, startPostgres } from './support/servers.js';
import { type Service, startService } from './support/service.js';
import { newDatabase } from './support/stores.js';
import { eventually } from './support/wait.js';

const perSecond = 200;
const rebuildBoundMs = 5 * 60_000;

/** How long a post takes while the same process rebuilds a read model, against a process at rest. */
export async function ingestDuringRebuild(t: Bench): Promise<Row[]> {
  const nats = await startNats(t, { sync: 'always' });
  await seedQueue(t, await openLog(t, nats), t.size(100_000, 10_000));
  const postgres = await startPostgres(t);
  const stores = { PostgreSQL: await newDatabase(postgres, 'bench'), PGlite: '' };
  const rows: Row[] = [];
  for (const [name, databaseUrl] of Object.entries(stores)) {
    t.progress(`${name}: folding`);
    const service = await serve(t, nats, databaseUrl);
    const { post, close } = poster(service.url);
    let next = 0;
    const send: (n: number) => ReturnType<Post> = () => post(signed(taskEvent(`${name}-${next++}`)));
    await atRate(perSecond, 400, send); // to warm up
    const idle: number[] = [];
    const busy: number[] = [];
    for (let round = 1; round <= t.size(3, 1); round++) {
      t.progress(`${name}: round ${round}`);
      const rebuilt = new AbortController();
      const whileRebuilding = atRate(perSecond, 100_000, send, rebuilt.signal);
      await rebuild(service).finally(() => rebuilt.abort());
      busy.push(...(await whileRebuilding));
      idle.push(...(await atRate(perSecond, t.size(1_500, 400), send)));
    }
    close();
    await service.stop();
    const [quiet, loaded] = [percentile(idle, 0.99), percentile(busy, 0.99)];
    rows.push({
      measured: `a post while a read model is rebuilt in the same process, ${perSecond} events/s, p99, ${name}`,
      ours: milliseconds(loaded),
      against: `without a rebuild: ${milliseconds(quiet)}`,
      ratio: loaded / quiet,
      goal: '≤ 2',
    });
  }
  return rows;
}

async function serve(t: Bench, nats: { url: string }, databaseUrl: string): Promise<Service> {
  return await startService(
    t,
    { nats },
    {
      ROLES: 'api,services,projections',
      LOG_LEVEL: 'info',
      STREAMS_MAX_BYTES: '10000000000',
      DATABASE_URL: databaseUrl,
    },
  );
}

/** Rebuilds the queue's read model. Resolves when reads go to the new build. */
async function rebuild(service: Service): Promise<void> {
  const answer = await fetch(`${service.url}/ops/projections/delivery_queue/rebuild`, { method: 'POST' });
  const { schema } = (await answer.json()) as { schema: string };
  await eventually(
    `${schema} to be read`,
    async () => {
      await sleep(100); // seldom, so that the asking does not show
      const status = await (await fetch(`${service.url}/ops/projections`)).json();
      const { projections } = status as { projections: { schema: string; state: string }[] };
      return projections.some((it) => it.schema === schema && it.state === 'live');
    },
    rebuildBoundMs,
  );
  await fetch(`${service.url}/ops/projections/prune`, { method: 'POST' });
}

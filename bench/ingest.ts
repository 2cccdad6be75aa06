import type { Bench, Row } from './support/bench.js';
import { signed, taskEvent, webhookSecret } from './support/events.js';
import { median } from './support/figures.js';
import { type LoadFigures, loadText, medians, underLoad } from './support/load.js';
import { rawRequest } from './support/raw-http.js';
import { startNats, startPostgres } from './support/servers.js';
import { type Floor, startFloor, startService } from './support/service.js';
import { newDatabase } from './support/stores.js';

/** More than any of them accepts in a second. */
const readyPerSecond = 20_000;

/** Durable ingest over HTTP: accepted events per second, ours and bare routes in turns. */
export async function ingest(t: Bench): Promise<Row[]> {
  const nats = await startNats(t, { sync: 'always' });
  const floorNats = await startNats(t, { sync: 'always' });
  const ours = await startService(
    t,
    { nats },
    { ROLES: 'api,services,projections', STREAMS_MAX_BYTES: '4000000000' },
  );
  const single = await startFloor(t, 'ingest', { args: [floorNats.url, webhookSecret, 'single'] });
  const grouped = await startFloor(t, 'ingest', { args: [floorNats.url, webhookSecret, 'groups'] });
  const sides = {
    ours: { ...ours, nats },
    single: { ...single, nats: floorNats },
    grouped: { ...grouped, nats: floorNats },
  };

  const rows: Row[] = [];
  for (const connections of [64, 8, 1]) {
    const figures = await inTurns(t, `${connections} connections`, sides, async (side, name, round) => {
      const seconds = t.size(4, 1);
      const count = seconds * Math.min(readyPerSecond, connections * 2_000);
      const next = readyEvents(side.url, `${name}-${connections}-${round}`, count);
      const processes = { process: side.pid, nats: side.nats.pid };
      return await underLoad({ url: side.url, next, connections, seconds, processes });
    });
    const row = (floor: 'single' | 'grouped', name: string, goal: string): Row => ({
      measured: `durable ingest over HTTP, ${connections} connection${connections > 1 ? 's' : ''}, the read models folded in the same process`,
      ours: loadText(medians(figures.ours)),
      against: `a bare route that checks the HMAC and appends ${name}: ${loadText(medians(figures[floor]))}`,
      ratio: median(figures.ours.map((own, round) => own.perSecond / figures[floor][round]!.perSecond)),
      goal,
    });
    rows.push(row('single', 'each event alone', { 64: '≥ 2.0', 8: '≥ 1.0', 1: '≥ 0.8' }[connections]!));
    if (connections === 64) rows.push(row('grouped', 'in groups', '≥ 0.55'));
  }
  return [...rows, await withRepeats(t, { single, grouped }), await apiAlone(t, single)];
}

/** What groups are worth when each of them has conflicts inside: every tenth post repeats an id that is known. */
async function withRepeats(t: Bench, floors: { single: Floor; grouped: Floor }): Promise<Row> {
  const figures = await inTurns(t, 'every tenth known', floors, async ({ url, pid }, _name, round) => {
    const seconds = t.size(4, 1);
    const next = everyTenthTwice(readyEvents(url, `repeats-${round}`, seconds * readyPerSecond));
    return await underLoad({ url, next, connections: 200, seconds, processes: { process: pid } });
  });
  return {
    measured: 'appends in groups by the bare route, 200 connections, every tenth with an id that is known',
    ours: loadText(medians(figures.grouped)),
    against: `the same route that appends each event alone: ${loadText(medians(figures.single))}`,
    ratio: median(figures.grouped.map((own, round) => own.perSecond / figures.single[round]!.perSecond)),
    goal: '≥ 1',
  };
}

/** Every tenth request is one that was answered long ago. */
function everyTenthTwice(next: () => Buffer | undefined): () => Buffer | undefined {
  const sent: (Buffer | undefined)[] = [];
  return () => {
    const known = sent.length % 10 === 9 ? sent.at(-1_000) : undefined;
    const request = known ?? next();
    sent.push(request);
    return request;
  };
}

/** The CPU time of the process that receives, while another one folds the read models. */
async function apiAlone(t: Bench, floor: Floor): Promise<Row> {
  const nats = await startNats(t, { sync: 'always' });
  const store = { DATABASE_URL: await newDatabase(await startPostgres(t), 'ingest') };
  const common = { ...store, STREAMS_MAX_BYTES: '4000000000' };
  await startService(t, { nats }, { ...common, ROLES: 'projections' });
  const ours = await startService(t, { nats }, { ...common, ROLES: 'api,services' });
  const figures = await inTurns(t, 'role api alone', { ours, floor }, async ({ url, pid }, _name, round) => {
    const seconds = t.size(4, 1);
    const next = readyEvents(url, `apart-${round}`, seconds * readyPerSecond);
    return await underLoad({ url, next, connections: 64, seconds, processes: { process: pid } });
  });
  const cpu = ({ cpu }: LoadFigures) => cpu.process!;
  return {
    measured: 'CPU of the process with the roles api and services for an accepted event, 64 connections',
    ours: loadText(medians(figures.ours)),
    against: `a bare route that checks the HMAC and appends each event alone: ${loadText(medians(figures.floor))}`,
    ratio: median(figures.ours.map((own, round) => cpu(own) / cpu(figures.floor[round]!))),
    goal: '≤ 1.6',
  };
}

/** Measures some sides in turns, after a round that warms them up. */
async function inTurns<Name extends string, Side>(
  t: Bench,
  what: string,
  sides: Record<Name, Side>,
  measure: (side: Side, name: Name, round: number) => Promise<LoadFigures>,
): Promise<Record<Name, LoadFigures[]>> {
  const names = Object.keys(sides) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as LoadFigures[]])) as Record<
    Name,
    LoadFigures[]
  >;
  const rounds = t.size(3, 1);
  for (let round = 0; round <= rounds; round++) {
    t.progress(`${what}, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    for (const name of names) {
      const found = await measure(sides[name], name, round);
      if (round > 0) figures[name].push(found);
    }
  }
  return figures;
}

/** Signed posts of new events, made before the load begins so that they cost it nothing. */
function readyEvents(url: string, run: string, count: number): () => Buffer | undefined {
  const target = `${url}/hooks/em/events`;
  const ready = Array.from({ length: count }, (_, n) =>
    rawRequest(target, { method: 'POST', ...signed(taskEvent(`${run}-${n}`)) }),
  );
  let taken = 0;
  return () => ready[taken++];
}

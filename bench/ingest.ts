import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { Bench, Row } from './support/bench.js';
import { signed, taskEvent, webhookSecret } from './support/events.js';
import { median, whole } from './support/figures.js';
import { startNats } from './support/servers.js';
import { startFloor, startService } from './support/service.js';

const connections = 64;

/** Durable ingest over HTTP, 64 connections: accepted events per second, ours and the bare route in turns. */
export async function ingest(t: Bench): Promise<Row[]> {
  const nats = await startNats(t, { sync: 'always' });
  const floorNats = await startNats(t, { sync: 'always' });
  const ours = await startService(
    t,
    { nats },
    { ROLES: 'api,services,projections', STREAMS_MAX_BYTES: '4000000000' },
  );
  const floor = await startFloor(t, 'ingest', { args: [floorNats.url, webhookSecret] });

  const figures = { ours: [] as Figure[], floor: [] as Figure[] };
  const rounds = t.size(3, 1);
  const seconds = t.size(4, 1);
  for (let round = 0; round <= rounds; round++) {
    t.progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const a = await load(ours.url, ours.pid, `o${round}`, seconds);
    const b = await load(floor.url, floor.pid, `f${round}`, seconds);
    if (round === 0) continue;
    figures.ours.push(a);
    figures.floor.push(b);
  }
  const compared = (of: keyof Figure) => ({
    ours: `${whole(median(figures.ours.map((figure) => figure[of])))}/s`,
    against: `${whole(median(figures.floor.map((figure) => figure[of])))}/s`,
    ratio: median(figures.ours.map((figure, n) => figure[of] / figures.floor[n]![of])),
  });
  const all = compared('perSecond');
  const perCpu = compared('perCpuSecond');
  return [
    {
      ...all,
      measured: `durable ingest over HTTP, ${connections} connections, the read model folded in the same process`,
      against: `a bare route that checks the HMAC and publishes: ${all.against}`,
      goal: '≥ 0.85',
    },
    {
      ...perCpu,
      measured: 'the same per second of the process’s CPU, the folding included',
      against: `the bare route, which folds nothing: ${perCpu.against}`,
    },
  ];
}

interface Figure {
  perSecond: number;
  perCpuSecond: number;
}

async function load(url: string, pid: number, run: string, seconds: number): Promise<Figure> {
  let next = 0;
  const cpuBefore = cpuSeconds(pid);
  const result = await autocannon({
    url: `${url}/hooks/em/events`,
    method: 'POST',
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => {
          const id = `${run}-${next++}`;
          return { ...request, ...signed(taskEvent(id)) };
        },
      },
    ],
  });
  const accepted = result['2xx'];
  if (accepted === 0 || result.non2xx > 0)
    throw new Error(`${url}: ${accepted} accepted, ${result.non2xx} refused`);
  return { perSecond: accepted / result.duration, perCpuSecond: accepted / (cpuSeconds(pid) - cpuBefore) };
}

/** User and system time of a process in seconds (100 ticks a second on Linux). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

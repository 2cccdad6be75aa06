import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { signBody } from '../src/auth/webhook-signature.js';
import { webhookSecret } from '../test/support/app.js';
import { startNats } from '../test/support/nats.js';
import { startService } from '../test/support/service.js';
import { Endings, median, type Result } from './table.js';

const connections = 64;
const seconds = 4;
const rounds = 3;

/** Durable ingest over HTTP, 64 connections: accepted events per second, ours and the bare route in turns. */
export async function ingest(): Promise<Result[]> {
  const endings = new Endings();
  try {
    const nats = await startNats(endings, { sync: 'always' });
    const floorNats = await startNats(endings, { sync: 'always' });
    const ours = await startService(
      endings,
      { nats, ircUrl: 'irc://127.0.0.1:1' },
      { ROLES: 'api,services,projections', LOG_LEVEL: 'info', STREAMS_MAX_BYTES: '4000000000' },
    );
    const floor = fork('bench/floors/ingest.ts', [floorNats.url, webhookSecret], {
      execArgv: ['--import', 'tsx'],
    });
    endings.teardown(() => end(floor));
    const [{ url: floorUrl }] = (await once(floor, 'message')) as [{ url: string }];

    const figures = { ours: [] as Figure[], floor: [] as Figure[] };
    for (let round = 0; round <= rounds; round++) {
      const a = await load(ours.url, ours.pid, `o${round}`);
      const b = await load(floorUrl, floor.pid!, `f${round}`);
      if (round === 0) continue; // to warm up
      figures.ours.push(a);
      figures.floor.push(b);
    }
    const perSecond = (of: Figure[]) => median(of.map((figure) => figure.perSecond));
    const perCpu = (of: Figure[]) => median(of.map((figure) => figure.perCpuSecond));
    const text = (n: number) => `${Math.round(n).toLocaleString('en')}/s`;
    return [
      {
        measured: 'durable ingest, 64 connections',
        ours: text(perSecond(figures.ours)),
        floor: text(perSecond(figures.floor)),
        ratio: median(figures.ours.map((figure, n) => figure.perSecond / figures.floor[n]!.perSecond)),
        goal: '≥ 0.85',
      },
      {
        measured: 'durable ingest per second of the service’s CPU',
        ours: text(perCpu(figures.ours)),
        floor: text(perCpu(figures.floor)),
        ratio: median(figures.ours.map((figure, n) => figure.perCpuSecond / figures.floor[n]!.perCpuSecond)),
        goal: '',
      },
    ];
  } finally {
    await endings.end();
  }
}

interface Figure {
  perSecond: number;
  perCpuSecond: number;
}

async function load(url: string, pid: number, run: string): Promise<Figure> {
  const timestamp = new Date().toISOString();
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
          const body = eventBody(`${run}-${next++}`);
          const headers = {
            'content-type': 'application/json',
            'x-em-signature': signBody(webhookSecret, body),
            'x-em-timestamp': timestamp,
          };
          return { ...request, body, headers };
        },
      },
    ],
  });
  const accepted = result['2xx'];
  if (accepted === 0 || result.non2xx > 0)
    throw new Error(`${url}: ${accepted} accepted, ${result.non2xx} refused`);
  return { perSecond: accepted / result.duration, perCpuSecond: accepted / (cpuSeconds(pid) - cpuBefore) };
}

/** About 600 bytes, as producers send them. */
function eventBody(id: string): string {
  const description =
    'Take three photographs of the shop front in daylight, with the opening hours readable. '.repeat(4);
  const payload = {
    id,
    title: `Task ${id}`,
    bounty_usdc: 5,
    category: 'simple_action',
    network: 'base',
    description,
  };
  return JSON.stringify({ event_id: id, event_type: 'task.published', source: 'marketplace', payload });
}

/** User and system time of a process in seconds (100 ticks a second on Linux). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

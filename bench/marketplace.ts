import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import type { Bench, Row } from './support/bench.js';
import { median, whole } from './support/figures.js';
import { startNats } from './support/servers.js';
import { startFloor, startService } from './support/service.js';

const connections = 64;

/** Reads of the marketplace through this service, against the marketplace itself and a bare route that passes on, in turns. */
export async function marketplace(t: Bench): Promise<Row[]> {
  const upstream = await startFloor(t, 'marketplace');
  const floor = await startFloor(t, 'forward', { args: [upstream.url] });
  const nats = await startNats(t);
  const ours = await startService(
    t,
    { nats },
    { ROLES: 'api,projections', LOG_LEVEL: 'warn', EM_URL: upstream.url },
  );
  const rounds: { through: Load; floor: Load; direct: Load }[] = [];
  for (let round = 0; round <= t.size(3, 1); round++) {
    t.progress(round === 0 ? 'warming up' : `round ${round}`);
    const load = async (url: string, ...pids: number[]) => await loadOf(url, t.size(4, 1), pids);
    const figures = {
      through: await load(`${ours.url}/em/tasks`, ours.pid, upstream.pid),
      floor: await load(`${floor.url}/tasks`, floor.pid, upstream.pid),
      direct: await load(`${upstream.url}/api/v1/tasks`, upstream.pid),
    };
    if (round > 0) rounds.push(figures);
  }
  const perSecond = (of: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[of].perSecond));
  const ratio = (to: 'floor' | 'direct') =>
    median(rounds.map((round) => round.through.perSecond / round[to].perSecond));
  for (const of of ['through', 'floor', 'direct'] as const) {
    const micros = rounds[0]![of].micros.map((_, n) => median(rounds.map((round) => round[of].micros[n]!)));
    t.progress(`${of}: µs of CPU a request: ${micros.map(whole).join(', ')} (client, then servers)`);
  }
  const measured = `GET /em/tasks passed on to a marketplace, ${connections} connections`;
  return [
    {
      ...{ measured, ours: `${whole(perSecond('through'))}/s`, ratio: ratio('direct'), goal: '≥ 0.6' },
      against: `that marketplace itself: ${whole(perSecond('direct'))}/s`,
    },
    {
      ...{ measured: 'the same', ours: `${whole(perSecond('through'))}/s`, ratio: ratio('floor') },
      against: `a bare fastify route that passes it on with undici: ${whole(perSecond('floor'))}/s`,
    },
  ];
}

/** Requests a second, and what one costs the client and each server, in microseconds of CPU. */
interface Load {
  perSecond: number;
  micros: number[];
}

async function loadOf(url: string, seconds: number, pids: number[]): Promise<Load> {
  const cpus = async () => [ownCpu(), ...(await Promise.all(pids.map(cpuOf)))];
  const before = await cpus();
  const result = await autocannon({ url, connections, duration: seconds });
  const after = await cpus();
  const answered = result['2xx'];
  if (answered === 0 || result.non2xx > 0) throw new Error(`${url}: ${result.non2xx} were refused`);
  return {
    perSecond: answered / result.duration,
    micros: after.map((cpu, n) => (cpu - before[n]!) / answered),
  };
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Microseconds of CPU that a process has used so far, in the kernel's ticks of a hundredth; `NaN` where that is not told. */
async function cpuOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) * 10_000;
}

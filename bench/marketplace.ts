import type { Bench, Row } from './support/bench.js';
import { median } from './support/figures.js';
import { type LoadFigures, loadText, medians, underLoad } from './support/load.js';
import { rawRequest } from './support/raw-http.js';
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
  const rounds: { through: LoadFigures; floor: LoadFigures; direct: LoadFigures }[] = [];
  for (let round = 0; round <= t.size(3, 1); round++) {
    t.progress(round === 0 ? 'warming up' : `round ${round}`);
    const load = async (url: string, processes: Record<string, number>) => {
      const bytes = rawRequest(url);
      return await underLoad({ url, next: () => bytes, connections, seconds: t.size(4, 1), processes });
    };
    const figures = {
      through: await load(`${ours.url}/em/tasks`, { process: ours.pid, marketplace: upstream.pid }),
      floor: await load(`${floor.url}/tasks`, { process: floor.pid, marketplace: upstream.pid }),
      direct: await load(`${upstream.url}/api/v1/tasks`, { marketplace: upstream.pid }),
    };
    if (round > 0) rounds.push(figures);
  }
  const figures = (of: keyof (typeof rounds)[number]) => loadText(medians(rounds.map((round) => round[of])));
  const ratio = (to: 'floor' | 'direct') =>
    median(rounds.map((round) => round.through.perSecond / round[to].perSecond));
  const measured = `GET /em/tasks passed on to a marketplace, ${connections} connections`;
  return [
    {
      measured,
      ours: figures('through'),
      ratio: ratio('direct'),
      goal: '≥ 0.6',
      against: `that marketplace itself: ${figures('direct')}`,
    },
    {
      measured: 'the same',
      ours: figures('through'),
      ratio: ratio('floor'),
      against: `a bare fastify route that passes it on with undici: ${figures('floor')}`,
    },
  ];
}

import { market, marketSubject } from '../streams/events/index.js';
import type { Bench, Row } from './support/bench.js';
import { signed, taskEvent, taskFact } from './support/events.js';
import { whole } from './support/figures.js';
import { atRate, poster } from './support/load.js';
import { inParallel, openLog, seedsAtATime } from './support/log.js';
import { startNats } from './support/servers.js';
import { residentMb, type Service, startService } from './support/service.js';
import { eventually } from './support/wait.js';

const foldBoundMs = 900_000;

/** Memory of the whole service while it cannot deliver, with and without a backlog of events. */
export async function memory(t: Bench): Promise<Row[]> {
  const events = t.size(1_000_000, 5_000);
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const service = await startService(t, { nats }, { STREAMS_MAX_BYTES: '10000000000' });
  const { post, close } = poster(service.url);
  t.teardown(close);
  const warm = 1_000;
  await atRate(200, warm, (n) => post(signed(taskEvent(`warm-${n}`))));
  await pending(service, warm);
  const idle = residentMb(service.pid);

  t.progress(`${events} events that cannot be delivered`);
  await inParallel(events, seedsAtATime, (n) => {
    const id = `backlog-${n}`;
    return log.append(market, marketSubject(id), taskFact(id), { by: 'bench' });
  });
  await pending(service, warm + events);
  const full = residentMb(service.pid);
  const most = residentMb(service.pid, 'most');
  return [
    {
      measured: `memory with ${whole(events)} undelivered events, all roles and the embedded database in one process`,
      ours: `${whole(full)} MB, at most ${whole(most)} MB on the way`,
      against: `without: ${whole(idle)} MB`,
      ratio: `${full > idle ? '+' : ''}${whole(Math.round(full - idle))} MB`,
      goal: '≤ +300 MB',
    },
  ];
}

async function pending(service: Service, events: number): Promise<void> {
  await eventually(
    `${events} events to be pending`,
    async () => {
      const stats = await (await fetch(`${service.url}/hooks/em/stats`)).json();
      return (stats as { pending: number }).pending === events;
    },
    foldBoundMs,
  );
}

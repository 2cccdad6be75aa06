import { delivery } from '../streams/delivery/index.js';
import { market } from '../streams/events/index.js';
import { parseAll } from './floors/rebuild.js';
import type { Bench, Row } from './support/bench.js';
import { median, perSecond, whole } from './support/figures.js';
import { openLog, seedQueue } from './support/log.js';
import { startNats } from './support/servers.js';
import { engines, nextSchema, project } from './support/stores.js';

/** Rebuilding the queue's read model next to the one that is read, against a reader that only parses. */
export async function rebuild(t: Bench): Promise<Row[]> {
  const facts = t.size(500_000, 20_000);
  const nats = await startNats(t); // only read from: how it syncs changes nothing
  const log = await openLog(t, nats);
  await seedQueue(t, log, facts);
  const streams = [market.name, delivery.name];
  const rounds = t.size(3, 1);
  const rows: Row[] = [];
  for (const { name, open } of await engines(t)) {
    const projector = await project(t, log, await open());
    t.progress(`${name}: building for the first time`);
    let schema = await nextSchema(projector);
    const ours: number[] = [];
    const floor: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      t.progress(`${name}: round ${round} of ${rounds}`);
      floor.push(await parseAll(nats.url, streams));
      const startedAt = performance.now();
      await projector.upkeep.rebuild('delivery_queue');
      schema = await nextSchema(projector, schema);
      ours.push(performance.now() - startedAt);
      await projector.upkeep.prune();
    }
    await projector.stop();
    rows.push({
      measured: `rebuild of a read model from ${whole(facts)} facts in ${name}`,
      ours: perSecond(facts, median(ours), 'facts'),
      against: `an ordered consumer that only parses: ${perSecond(facts, median(floor), 'facts')}`,
      ratio: median(ours.map((ms, round) => floor[round]! / ms)),
      goal: name === 'PGlite' ? '≥ 0.35' : '≥ 0.4',
    });
  }
  return rows;
}

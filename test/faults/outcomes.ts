import { postEvent } from '../support/app.js';
import { eventually, hangMs } from '../support/eventually.js';
import type { Fault } from './fault.js';
import { eventOf } from './load.js';
import { queueOf } from './stage.js';

/** Between two tries of a poison event: neighbours that wait for it would come later than that. */
const pauseMs = 3_000;

/** An event that one of its channels refuses, among others: it is given up, listed, and sent when it is asked for. */
export const poison: Fault = {
  name: 'poison',
  what: 'events for a closed channel among good ones, then redriven',
  long: { times: 20, events: 2_000 },
  short: { times: 2, events: 200 },
  stage: () => ({ environment: { EVENT_RETRY_MS: String(pauseMs) } }),
  run: async (stage, { times, events }) => {
    const { load, url, witness, ircd } = stage;
    await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'CBAN #cat-poison 1d :closed');
    const poisoned: string[] = [];
    for (let round = 0; round < times; round++) {
      const { id, event } = eventOf(load.reserve(), 'cat-poison');
      stage.expect((await postEvent(url, event)).status === 202, 'a poison event was not accepted');
      poisoned.push(`evt-${id}`);
      const before = performance.now();
      await load.post(Math.floor(events / times));
      stage.recoveries.push((await stage.firstLineAfter(before)) - before);
    }
    const rowOf = async (id: string) =>
      (await (await fetch(`${url}/ops/dead-letters/${id}`)).json()) as {
        status: string;
        retry_count: number;
      };
    for (const id of poisoned) {
      const row = await eventually(`${id} to be given up`, async () => {
        const row = await rowOf(id);
        return row.status === 'dead_letter' && row;
      });
      stage.expect(row.retry_count === 3, `${id} was tried ${row.retry_count} times`);
    }
    stage.notes.neighboursMs = Math.round(Math.max(...stage.recoveries));
    stage.expectSoon(Math.max(...stage.recoveries), pauseMs, 'a poison event held up its neighbours');

    await witness.ask('CBAN #cat-poison');
    await witness.join('#cat-poison');
    await witness.ask('SAMODE #cat-poison +PH 100:1d');
    for (const id of poisoned) {
      const answer = await fetch(`${url}/ops/dead-letters/${id}/redrive`, { method: 'POST' });
      stage.expect(answer.ok, `${id} could not be redriven: ${answer.status}`);
    }
    await eventually('the redriven to be delivered', async () => (await queueOf(url)).pending === 0);
    const shown = () => witness.texts('#cat-poison').length;
    await witness.waitUntil(() => shown() >= times, 'the redriven lines').catch(() => undefined);
    stage.expect(shown() === times, `${shown()} of ${times} redriven lines were shown`);
    stage.expect((await queueOf(url)).dead_letter === 0, 'dead letters are left');
  },
};

/** The network is away for longer than events may wait. */
export const outageBeyondTtl: Fault = {
  name: 'outage-beyond-ttl',
  what: 'InspIRCd out of reach for longer than the time to live (by setting)',
  long: { times: 1, events: 2_000, seconds: 20 },
  short: { times: 1, events: 200, seconds: 10 },
  stage: ({ seconds }) => ({ environment: { EVENT_TTL_MS: String(seconds! * 1_000) } }),
  run: async (stage, { events, seconds }) => {
    const { load, url, irc, witness } = stage;
    irc.refuse(true);
    irc.cut();
    await load.post(Math.floor(events / 2));
    const postedAt = performance.now();
    const waiting = [...load.events.keys()];
    await eventually(
      'what waits to expire',
      async () => (await queueOf(url)).pending === 0,
      seconds! * 1_000 + hangMs,
    );
    const lateMs = performance.now() - postedAt - seconds! * 1_000;
    stage.notes.expiryLateMs = Math.round(lateMs);
    stage.expectSoon(lateMs, 5_000, 'events expired late');
    irc.refuse(false);
    const backAt = performance.now();
    // one alone until the bot is back: what waits for it can expire, too
    await load.post(1);
    stage.recoveries.push((await stage.firstLineAfter(backAt)) - backAt);
    await load.post(Math.ceil(events / 2) - 1);
    await eventually('the others to be delivered', async () => (await queueOf(url)).pending === 0);
    const { dead_letters } = (await (
      await fetch(`${url}/ops/dead-letters?status=expired&limit=500`)
    ).json()) as {
      dead_letters: { retry_count: number }[];
    };
    stage.expect(
      dead_letters.length >= Math.min(500, waiting.length),
      `${dead_letters.length} expired events are listed`,
    );
    stage.expect(
      dead_letters.every(({ retry_count }) => retry_count === 0),
      'an outage was counted as a failure',
    );
    const shown = waiting.filter((id) => witness.lines.some(({ text }) => text.startsWith(`[NEW] ${id}`)));
    stage.expect(shown.length === 0, `${shown.length} expired events were shown`);
  },
};

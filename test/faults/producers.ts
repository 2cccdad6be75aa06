import type { Fault } from './fault.js';
import { eventOf } from './load.js';

/** One event is posted again and again, many at a time, while the log server dies and comes back. */
export const duplicateStorm: Fault = {
  name: 'duplicate-storm',
  what: 'one event 10,000 times, 200 at a time, over a kill -9 of nats-server',
  long: { times: 10_000, events: 1 },
  short: { times: 500, events: 1 },
  run: async (stage, { times }) => {
    const { load, url } = stage;
    const n = load.reserve();
    const { event } = eventOf(n, 'cat-c00');
    let left = times;
    let accepted = 0;
    let killed: Promise<void> | undefined;
    const repeat = async () => {
      while (left > 0) {
        left -= 1;
        if (left === Math.floor(times / 2)) killed = stage.restart(stage.log);
        for (;;) {
          const { status, code } = await load.attempt(url, event);
          if (status === 202) accepted += 1;
          if (status === 202 || (status === 200 && code === 'already_processed')) break;
          stage.expect(status === 0 || status >= 500, `a repetition was answered ${status} ${code}`);
        }
      }
    };
    await Promise.all(Array.from({ length: 200 }, repeat));
    await killed;
    stage.expect(accepted <= 1, `the event was accepted ${accepted} times`);
    await load.send(n, 0); // known by now, and from here on judged like any other
  },
};

/** A captured request is sent again under a fresh timestamp, over restarts and beyond the log's own memory of ids. */
export const replay: Fault = {
  name: 'replay',
  what: 'captured bodies with a fresh timestamp, over restarts of service and nats-server, after 130 s',
  long: { times: 2, events: 2_000, seconds: 130 },
  short: { times: 1, events: 100, seconds: 0 },
  run: async (stage, { times, events, seconds = 0 }) => {
    const { load, url } = stage;
    const replayAll = async () => {
      for (const [id, { channels }] of load.events) {
        const { event } = eventOf(Number(id.slice(1)), channels.at(-1)!.slice(1));
        const { status, code } = await load.attempt(url, event);
        stage.expect(
          status === 200 && code === 'already_processed',
          `${id} was taken again: ${status} ${code}`,
        );
      }
    };
    await load.post(events);
    for (let round = 0; round < times; round++) {
      await Promise.all([stage.service.kill(), stage.log.kill()]);
      await stage.log.start();
      await stage.service.start();
      await stage.pass(seconds);
      await replayAll();
    }
  },
};

/** The producer's clock is off by a little less and a little more than is accepted. */
export const clocks: Fault = {
  name: 'clocks',
  what: "producer's clock off by 4:59 and 5:01, either way",
  long: { times: 500, events: 2_000 },
  short: { times: 25, events: 100 },
  run: async (stage, { times, events }) => {
    const { load, url } = stage;
    const stamped = (seconds: number) => ({
      'x-em-timestamp': new Date(Date.now() + seconds * 1_000).toISOString(),
    });
    for (let round = 0; round < times; round++) {
      for (const seconds of [-301, 301, -299, 299]) {
        const n = load.reserve();
        const { status, code } = await load.attempt(url, eventOf(n, 'cat-c00').event, stamped(seconds));
        if (Math.abs(seconds) > 300) {
          stage.expect(
            status === 401 && code === 'timestamp_stale',
            `${seconds} s off was answered ${status} ${code}`,
          );
        } else {
          stage.expect(status === 202, `${seconds} s off was answered ${status} ${code}`);
          await load.send(n, 0);
        }
      }
    }
    await load.post(Math.max(0, events - load.events.size));
  },
};

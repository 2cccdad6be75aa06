import type { Fault } from './fault.js';
import type { Stage } from './stage.js';

type Strike = (stage: Stage) => Promise<void>;

/** What may happen at any moment; each ends with everything running again. */
const strikes: Record<string, Strike> = {
  'kill-nats': (stage) => stage.restart(stage.log),
  'kill-inspircd': (stage) => stage.restartIrcd(),
  cut: async ({ irc }) => irc.cut(),
  freeze: async (stage) => {
    stage.irc.freeze();
    await stage.pass(stage.between(0.5, 12));
    stage.irc.thaw();
  },
  'pause-nats': async (stage) => {
    stage.log.pause();
    await stage.pass(stage.between(0.1, 6));
    stage.log.resume();
  },
  'pause-inspircd': async (stage) => {
    stage.ircd.pause();
    await stage.pass(stage.between(0.1, 8));
    stage.ircd.resume();
  },
};

/** These begin a new process, whose memory says nothing about the growth of the one before. */
const restarts: Record<string, Strike> = {
  'kill-service': (stage) => stage.restart(stage.service),
  'kill-both': async (stage) => {
    await Promise.all([stage.service.kill(), stage.log.kill()]);
    await stage.log.start();
    await stage.service.start();
  },
  stop: async (stage) => {
    await stage.service.kill('SIGTERM');
    await stage.service.start();
  },
};

const perSecond = 40;
/** Growth of memory that is still called none, in MB a minute, once the process has found its size. */
const slopeBound = 1;
/** A slope of less is noise of the garbage collector. */
const slopeSeconds = 300;

/** All the others by chance. In the last two thirds the service is let live, so that growth of its memory is seen. */
export const soak: Fault = {
  name: 'soak',
  what: 'random faults, one after the other',
  long: { times: 0, events: 0, seconds: 1_200 },
  short: { times: 0, events: 0, seconds: 15 },
  run: async (stage, size) => {
    const { load, memory, notes } = stage;
    const began = performance.now();
    const elapsed = () => (performance.now() - began) / 1_000;
    const total = size.seconds!;
    const ended = new AbortController();
    const posting = load.post(Number.MAX_SAFE_INTEGER, { perSecond, signal: ended.signal });
    let settledAt = 0;
    while (elapsed() < total) {
      await stage.pass(stage.between(0.2, 6));
      const lives = elapsed() > total / 3;
      if (lives && settledAt === 0) settledAt = performance.now() + 60_000;
      const choice = Object.entries(lives ? strikes : { ...strikes, ...restarts });
      const [name, strike] = choice[Math.floor(stage.random() * choice.length)]!;
      stage.progress(`${Math.round(elapsed())} of ${total} s: ${name}`);
      const struckAt = performance.now();
      await strike(stage);
      notes[name] = Number(notes[name] ?? 0) + 1;
      stage.recoveries.push((await stage.firstLineAfter(struckAt)) - struckAt);
    }
    ended.abort();
    await posting;
    notes.memoryMb = Math.round(memory.max());
    if (total - total / 3 < slopeSeconds) return;
    notes.growthMbPerMinute = Math.round(memory.slope(settledAt) * 100) / 100;
    stage.expect(
      memory.slope(settledAt) <= slopeBound,
      `memory grows by ${notes.growthMbPerMinute} MB a minute`,
    );
  },
};

import { eventually } from '../support/eventually.js';
import type { Fault } from './fault.js';

/** The connection to the IRC server is reset. */
export const cut: Fault = {
  name: 'cut',
  what: 'TCP connection to InspIRCd reset',
  long: { times: 50, events: 5_000 },
  short: { times: 4, events: 500 },
  run: (stage, size) => stage.strikes(size, async () => stage.irc.cut()),
};

/** The connection stays open and nothing passes: only silence tells. */
export const freeze: Fault = {
  name: 'freeze',
  what: 'TCP connection to InspIRCd frozen half open',
  long: { times: 20, events: 2_000 },
  short: { times: 1, events: 200 },
  run: async (stage, size) => {
    await stage.strikes(size, async () => {
      const before = stage.irc.connections;
      stage.irc.freeze();
      const began = performance.now();
      await eventually('another connection', () => stage.irc.connections > before);
      stage.expectSoon(performance.now() - began, 12_000, 'a half-open connection was found late');
      stage.irc.thaw();
    });
  },
};

/** The log server answers nothing for a while. */
export const pauseNats: Fault = {
  name: 'pause-nats',
  what: 'SIGSTOP of nats-server',
  long: { times: 1, events: 2_000, seconds: 30 },
  short: { times: 1, events: 200, seconds: 5 },
  run: async (stage, size) => {
    const { load, memory } = stage;
    await stage.strikes(size, async () => {
      const before = memory.max();
      stage.log.pause();
      const pausedAt = performance.now();
      await stage.pass(size.seconds!);
      const during = load.answers.filter(({ at, ms }) => at - ms > pausedAt);
      stage.log.resume();
      stage.expect(
        during.every(({ status }) => status >= 500),
        'an event was accepted while the log server stood still',
      );
      const slowest = Math.max(0, ...during.map(({ ms }) => ms));
      stage.expectSoon(slowest, 5_500, 'a post was answered late');
      stage.notes.slowestAnswerMs = Math.round(slowest);
      stage.notes.grownMb = Math.round(memory.max(pausedAt) - before);
      stage.expect(
        memory.max(pausedAt) - before < 50,
        'memory grew by 50 MB while the log server stood still',
      );
    });
  },
};

/** The IRC server answers nothing for a while: an outage, and no failure of any event. */
export const pauseIrcd: Fault = {
  name: 'pause-inspircd',
  what: 'SIGSTOP of InspIRCd',
  long: { times: 1, events: 2_000, seconds: 60 },
  short: { times: 1, events: 200, seconds: 3 },
  run: (stage, size) =>
    stage.strikes(size, async () => {
      stage.ircd.pause();
      await stage.pass(size.seconds!);
      stage.ircd.resume();
    }),
};

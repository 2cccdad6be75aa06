import type { Fault } from './fault.js';

/** The whole service dies: every role in one process, with its embedded read store. */
export const killService: Fault = {
  name: 'kill-service',
  what: 'kill -9 of the service',
  long: { times: 20, events: 2_000 },
  short: { times: 2, events: 500 },
  run: (stage, size) => stage.strikes(size, () => stage.restart(stage.service)),
};

/**
 * The holder of the marketplace bot dies; the standby takes over, and the killed process becomes the standby.
 */
export const killDelivery: Fault = {
  name: 'kill-delivery',
  what: 'kill -9 of the process that delivers, with a standby',
  long: { times: 20, events: 2_000 },
  short: { times: 1, events: 200 },
  stage: () => ({ shape: 'split' }),
  run: async (stage, size) => {
    let [holder, standby] = stage.deliverers;
    await stage.strikes(size, async () => {
      await stage.restart(holder);
      [holder, standby] = [standby, holder];
    });
    stage.expectSoon(Math.max(...stage.recoveries), 10_000, 'a standby took long');
  },
};

/** The log server dies. */
export const killNats: Fault = {
  name: 'kill-nats',
  what: 'kill -9 of nats-server',
  long: { times: 10, events: 2_000 },
  short: { times: 2, events: 500 },
  run: (stage, size) => stage.strikes(size, () => stage.restart(stage.log)),
};

/** The IRC server dies, and its history with it: the line in flight of each channel is in doubt. */
export const killIrcd: Fault = {
  name: 'kill-inspircd',
  what: 'kill -9 of InspIRCd',
  long: { times: 20, events: 2_000 },
  short: { times: 2, events: 500 },
  run: (stage, size) => stage.strikes(size, () => stage.restartIrcd()),
};

/** Service, log server and IRC server die in the same moment. */
export const killAll: Fault = {
  name: 'kill-all',
  what: 'kill -9 of service, nats-server and InspIRCd at once',
  long: { times: 10, events: 2_000 },
  short: { times: 1, events: 200 },
  run: (stage, size) =>
    stage.strikes(size, async () => {
      // besides the line in flight, those that were confirmed and not yet recorded
      stage.inDoubt.twice += 16;
      await Promise.all([stage.service.kill(), stage.log.kill(), stage.ircd.kill()]);
      await Promise.all([stage.restartIrcd(), stage.log.start().then(() => stage.service.start())]);
    }),
};

/** One of three log servers dies and comes back, the leaders of the streams among them. */
export const killNatsNode: Fault = {
  name: 'kill-nats-node',
  what: 'kill -9 of one nats-server of three, back after 2 s',
  long: { times: 10, events: 2_000 },
  short: { times: 1, events: 200 },
  stage: () => ({ shape: 'cluster' }),
  run: (stage, size) =>
    stage.strikes(size, async (round) => {
      const node = stage.nats.nodes[round % stage.nats.nodes.length]!;
      await node.kill();
      await stage.pass(2);
      await node.start();
    }),
};

import { setTimeout as delay } from 'node:timers/promises';
import type { Log, StreamDefinition } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { consumerStatuses, haltOf } from '../../../workers/core/consumers.js';
import { leaseHolder } from '../../../workers/core/lease.js';
import { deliverToIrcConsumers } from '../../../workers/delivery/index.js';
import type { IrcState } from '../../operations/core/health.js';
import { type Check, fail, ok, type Result, skipped, warn } from './finding.js';
import { type Installation, reportedMs } from './installation.js';
import { withLog } from './log.js';

/** Work that is this old is looked at twice, to see whether anything moves. In milliseconds. */
const oldMs = 60_000;
const watchMs = 3_000;

const lease: Check = {
  id: 'delivery',
  look: (installation) =>
    withLog(installation, async (log) => {
      const held = await leaseHolder(log, 'deliver-to-irc');
      if (!held) {
        if (installation.own.nats && (await installation.service()).is !== 'running')
          return skipped('nobody delivers while the service does not run');
        return fail(
          'no process delivers: the lease has no holder',
          'start a process whose ROLES have irc, and look into its log if there is one',
        );
      }
      const isWell = ({ connected, nick }: IrcState) => connected && nick === installation.config.EM_NICK;
      let state = held.state as IrcState;
      if (!isWell(state)) {
        await delay(reportedMs); // registration takes the server a second, and the holder reports it a little later
        state = ((await leaseHolder(log, 'deliver-to-irc')) ?? held).state as IrcState;
      }
      const { connected, nick, oper } = state;
      const mend = 'see what is said here about IRC, and the log of that process';
      if (!connected) return fail(`${held.holder} delivers, and is not connected to IRC`, mend);
      if (!isWell(state))
        return fail(
          `${held.holder} is on IRC as ${nick}: somebody else has ${installation.config.EM_NICK}`,
          mend,
        );
      return ok(`${held.holder} delivers as ${nick}${oper ? ', an operator' : ''}`);
    }),
};

const backlog: Check = {
  id: 'consumers',
  look: (installation) =>
    withLog(installation, async (log) => {
      const looked = deliverToIrcConsumers.map(async ({ stream, durable }): Promise<Result> => {
        return { part: durable, ...(await lookAt(log, stream, durable, installation)) };
      });
      return await Promise.all(looked);
    }),
};

async function lookAt(
  log: Log,
  stream: StreamDefinition,
  durable: string,
  installation: Installation,
): Promise<Result> {
  const first = await stateOf(log, stream, durable);
  if (!first) {
    if ((await installation.service()).is !== 'running') return skipped('nobody has taken it up yet');
    return warn(
      'nobody has taken it up yet',
      'start a process whose ROLES have irc, and see that IRC is reached',
    );
  }
  if (first.waiting === 0) return ok('nothing waits');
  const ageMs = first.oldest === undefined ? 0 : installation.now() - first.oldest.getTime();
  const what = `${first.waiting} wait, the oldest for ${Math.round(ageMs / 1_000)} s`;
  if (ageMs < oldMs) return ok(what);
  await delay(watchMs);
  const second = await stateOf(log, stream, durable);
  if (second?.floor !== first.floor) return ok(`${what}; it moves`);
  const stuck = `${what}, and nothing moves`;
  // work that waits longer than that should have expired
  if (ageMs > installation.config.EVENT_TTL_MS + oldMs)
    return fail(stuck, 'restart the process that delivers, and look into its log for the reason');
  return warn(stuck, 'see what is said here about IRC and delivery');
}

/** The open work: how much, since when, and after which sequence. */
async function stateOf(log: Log, stream: StreamDefinition, durable: string) {
  const statuses = await consumerStatuses(log, [stream]).catch(() => []);
  const found = statuses.find(({ worker }) => worker === durable);
  if (!found) return undefined;
  const { position: floor, filter } = found;
  const waiting = found.pending + found.unacknowledged;
  const oldest = waiting > 0 ? await log.next(stream, floor + 1, filter) : undefined;
  return { floor, waiting, oldest: oldest?.at };
}

const workers: Check = {
  id: 'workers',
  look: (installation) =>
    withLog(installation, async (log) => {
      const known = await consumerStatuses(log, streams).catch(() => []);
      const halted = known.filter((one) => one.halted.length > 0);
      if (halted.length === 0) return ok('no worker has halted at a fact');
      return halted.map((status) => {
        const mend = `relay events ${status.stream} --from ${status.halted[0]!.seq}; then relay workers skip ${status.worker} --seq ${status.halted[0]!.seq} --reason TEXT`;
        return { part: status.worker, ...fail(`${status.worker} ${haltOf(status)}`, mend) };
      });
    }),
};

/** Who delivers, and whether anything is stuck. */
export const deliveryChecks: Check[] = [lease, backlog, workers];

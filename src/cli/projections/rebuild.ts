import { setTimeout as delay } from 'node:timers/promises';
import { defineCommand } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { print } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';
import { haltOf, mendHint, type Status, statuses, sum } from './status.js';

const pollMs = 200;
/** Another process may list a build that was begun here a moment later: it counts as gone after so many polls. */
const missesUntilGone = 15;

/** `relay projections rebuild` */
export const rebuildCommand = defineCommand({
  name: 'projections rebuild',
  arguments: ['<name>'],
  summary: 'Fold a read model again from the first fact, and wait until it is live',
  details:
    'Readers see the old tables until the new ones have caught up. The old ones stay until "relay projections prune".',
  options: serviceOptions,
  async run(invocation) {
    const [name = ''] = invocation.arguments;
    const { options, stop } = invocation;
    const service = serviceOf(invocation, options);
    const params = { path: { name } };
    const begun = await service.api.post('/ops/projections/{name}/rebuild', { params });
    const { schema } = begun;
    const progress = showProgress(invocation, schema);
    for (let misses = 0; ; ) {
      const builds = await statuses(service);
      const status = builds.find((one) => one.schema === schema);
      misses = status ? 0 : misses + 1;
      const newer = builds.find((one) => isNewer(one, begun));
      if (!status && (newer || misses >= missesUntilGone)) {
        progress.end();
        throw overtaken(schema, newer);
      }
      if (status?.error) throw new Failed(haltOf(status), 'halted', mendHint(status));
      if (status) progress.to(sum(status, 'position'), sum(status, 'head'));
      if (status?.state === 'live') {
        progress.end();
        return print(invocation, status, `${schema} is live`);
      }
      await delay(pollMs, undefined, { signal: stop }).catch(() => {
        throw new Failed('interrupted: the service goes on building it', 'interrupted');
      });
    }
  },
});

/** A build as it was begun. */
type Begun = Pick<Status, 'name' | 'version' | 'schema'>;

function isNewer(one: Begun, than: Begun): boolean {
  if (one.name !== than.name) return false;
  return one.version === than.version ? generationOf(one) > generationOf(than) : one.version > than.version;
}

/** 1, and one more for each rebuild of the same version. */
function generationOf({ schema }: Begun): number {
  return Number(/_g(\d+)$/.exec(schema)?.[1] ?? 1);
}

/** A process folds the newest build of its version and the one that is read: any other one stays as it is. */
function overtaken(schema: string, newer: Begun | undefined): Failed {
  const reason = newer
    ? `${newer.schema} was begun after it`
    : 'the service does not have it among its builds any more';
  return new Failed(
    `${schema} is not built any more: ${reason}`,
    'overtaken',
    'Look at what is built and read now: relay projections',
  );
}

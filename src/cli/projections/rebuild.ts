import { setTimeout as delay } from 'node:timers/promises';
import { defineCommand } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { print } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';
import { haltOf, mendHint, statuses, sum } from './status.js';

const pollMs = 200;

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
    const { schema } = await service.api.post('/ops/projections/{name}/rebuild', { params });
    const progress = showProgress(invocation, schema);
    for (;;) {
      const status = (await statuses(service)).find((one) => one.schema === schema);
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

import { defineCommand } from '../core/command.js';
import { print, printable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay projections prune` */
export const pruneCommand = defineCommand({
  name: 'projections prune',
  summary: 'Drop the tables of versions that are not used any more',
  options: serviceOptions,
  async run(invocation) {
    const service = serviceOf(invocation, invocation.options);
    const { dropped } = await service.api.post('/ops/projections/prune');
    print(invocation, { dropped }, () => {
      for (const schema of dropped.length > 0 ? dropped : ['nothing to drop'])
        invocation.terminal.out(printable(schema));
    });
  },
});

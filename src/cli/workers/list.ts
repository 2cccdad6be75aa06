import { haltOf } from '../../../workers/core/consumers.js';
import { defineCommand } from '../core/command.js';
import { print, printable, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay workers` */
export const workersCommand = defineCommand({
  name: 'workers',
  also: ['workers list'],
  summary: 'List the workers, how far each is, and at which facts it has halted',
  options: serviceOptions,
  async run(invocation) {
    const { terminal } = invocation;
    const { workers } = await serviceOf(invocation, invocation.options).api.get('/ops/workers');
    print(invocation, { workers }, () => {
      writeTable(
        terminal,
        ['NAME', 'STREAM', 'POSITION', 'PENDING', 'IN HAND', 'HALTED'],
        workers.map(({ worker, stream, position, pending, unacknowledged, halted }) => {
          return [worker, stream, position, pending, unacknowledged, halted.length];
        }),
      );
      for (const status of workers.filter(({ halted }) => halted.length > 0))
        terminal.out(`\n${printable(`${status.worker} ${haltOf(status)}`)}`);
    });
  },
});

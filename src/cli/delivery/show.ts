import { defineCommand } from '../core/command.js';
import { print, printable, styled } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';
import { deadLetterPath } from './queue.js';

/** `relay dead-letters show` */
export const showDeadLetterCommand = defineCommand({
  name: 'dead-letters show',
  arguments: ['<event_id>'],
  summary: 'Show all that is known about one event',
  options: serviceOptions,
  async run(invocation) {
    const [eventId = ''] = invocation.arguments;
    const { options, terminal } = invocation;
    const row = await serviceOf(invocation, options).ask('GET', deadLetterPath(eventId));
    print(invocation, row, () => {
      const fields = Object.entries(row as Record<string, unknown>);
      const width = Math.max(...fields.map(([name]) => name.length));
      for (const [name, value] of fields) {
        const shown = typeof value === 'string' ? value : JSON.stringify(value);
        terminal.out(`${styled(terminal, 'bold', name.padEnd(width))}  ${printable(shown)}`);
      }
    });
  },
});

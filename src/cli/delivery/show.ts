import { defineCommand } from '../core/command.js';
import { moment, print, printable, styled, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay dead-letters show` */
export const showDeadLetterCommand = defineCommand({
  name: 'dead-letters show',
  arguments: ['<event_id>'],
  summary: 'Show all that is known about one event, and what became of it in each channel',
  options: serviceOptions,
  async run(invocation) {
    const [eventId = ''] = invocation.arguments;
    const { options, terminal } = invocation;
    const { api } = serviceOf(invocation, options);
    const row = await api.get('/ops/dead-letters/{event_id}', { params: { path: { event_id: eventId } } });
    print(invocation, row, () => {
      const { channels, ...rest } = row;
      const fields = Object.entries(rest);
      const width = Math.max(...fields.map(([name]) => name.length));
      for (const [name, value] of fields) {
        const shown = typeof value === 'string' ? value : JSON.stringify(value);
        terminal.out(`${styled(terminal, 'bold', name.padEnd(width))}  ${printable(shown)}`);
      }
      terminal.out('');
      writeTable(
        terminal,
        ['CHANNEL', 'STATUS', 'FAILURES', 'AT'],
        channels.map(({ channel, status, failures, at }) => [channel, status, failures, moment(at)]),
      );
    });
  },
});

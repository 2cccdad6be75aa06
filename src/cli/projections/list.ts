import { defineCommand } from '../core/command.js';
import { print, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';
import { haltOf, mendHint, statuses } from './status.js';

const styles = { building: 'yellow', live: 'green', halted: 'red' } as const;

/** `relay projections` */
export const projectionsCommand = defineCommand({
  name: 'projections',
  also: ['projections list', 'projections status'],
  summary: 'List the read models, and how far each lags',
  options: serviceOptions,
  async run(invocation) {
    const { terminal } = invocation;
    const projections = await statuses(serviceOf(invocation, invocation.options));
    print(invocation, { projections }, () => {
      writeTable(
        terminal,
        ['NAME', 'TABLES', 'STATE', 'STREAM', 'POSITION', 'HEAD', 'LAG'],
        projections.flatMap(({ name, schema, state, streams }) =>
          streams.map(({ stream, position, head, lag }) => {
            return [name, schema, { text: state, style: styles[state] }, stream, position, head, lag];
          }),
        ),
      );
      for (const status of projections)
        if (status.error) terminal.out(`\n${haltOf(status)}\n${mendHint(status)}`);
    });
  },
});

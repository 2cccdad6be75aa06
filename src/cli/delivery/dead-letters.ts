import { defineCommand, wholeNumber } from '../core/command.js';
import { moment, print, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';
import { type DeadLetter, deadLetters, expiredOption } from './queue.js';

/** `relay dead-letters` */
export const deadLettersCommand = defineCommand({
  name: 'dead-letters',
  also: ['dead-letters list'],
  summary: 'List the events that were given up, newest first',
  options: {
    ...expiredOption,
    limit: wholeNumber('N', 'at most so many (default: 100)'),
    ...serviceOptions,
  },
  async run(invocation) {
    const { options, terminal } = invocation;
    const { limit = 100 } = options;
    const rows: DeadLetter[] = [];
    for await (const row of deadLetters(serviceOf(invocation, options), options)) {
      if (rows.push(row) >= limit) break;
    }
    print(invocation, { dead_letters: rows }, () => {
      if (rows.length === 0) return terminal.out('none');
      writeTable(
        terminal,
        ['EVENT', 'TYPE', 'STATUS', 'FAILURES', 'RECEIVED', 'ERROR'],
        rows.map((row) => [
          row.event_id,
          row.event_type,
          { text: row.status, style: 'red' as const },
          row.retry_count,
          moment(row.created_at),
          row.last_error ?? '-',
        ]),
      );
    });
  },
});

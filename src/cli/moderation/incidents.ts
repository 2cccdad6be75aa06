import { defineCommand, wholeNumber } from '../core/command.js';
import { moment, print, printable, writeTable } from '../core/terminal.js';
import { type Answer, serviceOf, serviceOptions } from '../service/client.js';

/** An incident as the service tells of it. */
type Incident = Answer<'/ops/incidents'>['incidents'][number];

const page = 500;

/** `relay incidents` */
export const incidentsCommand = defineCommand({
  name: 'incidents',
  also: ['incidents list'],
  summary: 'List what the guardian took for attacks, newest first',
  options: { limit: wholeNumber('N', 'at most so many (default: 50)'), ...serviceOptions },
  async run(invocation) {
    const { options, terminal } = invocation;
    const { limit = 50 } = options;
    const service = serviceOf(invocation, options);
    const rows: Incident[] = [];
    for (let before: number | undefined; rows.length < limit; before = rows.at(-1)!.id) {
      const wanted = Math.min(page, limit - rows.length);
      const query = { limit: wanted, ...(before === undefined ? {} : { before }) };
      const { incidents } = await service.api.get('/ops/incidents', { params: { query } });
      rows.push(...incidents);
      if (incidents.length < wanted) break;
    }
    print(invocation, { incidents: rows }, () => {
      if (rows.length === 0) return terminal.out('none');
      writeTable(
        terminal,
        ['ID', 'WHEN', 'NICK', 'CHANNEL', 'LEVEL', 'SCORE', 'PATTERNS', 'ACTION', 'TEXT'],
        rows.map((row) => [
          row.id,
          moment(row.created_at),
          row.nick,
          row.channel,
          row.level,
          row.score,
          row.patterns,
          becameOf(row),
          printable(row.text ?? '-').slice(0, 60),
        ]),
      );
    });
  },
});

function becameOf(row: Incident): string {
  const { action, outcome, error, lifted_at, pardoned_at, appealed_at, upheld_at } = row;
  const appeal = appealed_at && !pardoned_at ? (upheld_at ? ', appeal declined' : ', appealed') : '';
  const end = (pardoned_at ? ', pardoned' : lifted_at ? ', lifted' : '') + appeal;
  if (action === 'none') return `none${error ? ` (${error})` : ''}${end}`;
  const came = outcome === null || outcome === 'done' ? '' : `: ${outcome}${error ? ` (${error})` : ''}`;
  return `${action}${came}${end}`;
}

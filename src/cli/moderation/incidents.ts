import { z } from 'zod';
import { defineCommand, wholeNumber } from '../core/command.js';
import { moment, print, printable, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

const Row = z.looseObject({
  id: z.number(),
  nick: z.string(),
  channel: z.string(),
  score: z.number(),
  level: z.string(),
  patterns: z.string(),
  action: z.string(),
  outcome: z.string().nullable(),
  error: z.string().nullable(),
  lifted_at: z.string().nullable(),
  pardoned_at: z.string().nullable(),
  appealed_at: z.string().nullish(),
  upheld_at: z.string().nullish(),
  text: z.string().nullable(),
  created_at: z.string(),
});
type Row = z.output<typeof Row>;
const Rows = z.object({ incidents: z.array(Row) });

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
    const rows: Row[] = [];
    for (let before = ''; rows.length < limit; before = `&before=${rows.at(-1)!.id}`) {
      const wanted = Math.min(page, limit - rows.length);
      const answer = await service.ask('GET', `/ops/incidents?limit=${wanted}${before}`);
      const { incidents } = Rows.parse(answer);
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

function becameOf(row: Row): string {
  const { action, outcome, error, lifted_at, pardoned_at, appealed_at, upheld_at } = row;
  const appeal = appealed_at && !pardoned_at ? (upheld_at ? ', appeal declined' : ', appealed') : '';
  const end = (pardoned_at ? ', pardoned' : lifted_at ? ', lifted' : '') + appeal;
  if (action === 'none') return `none${error ? ` (${error})` : ''}${end}`;
  const came = outcome === null || outcome === 'done' ? '' : `: ${outcome}${error ? ` (${error})` : ''}`;
  return `${action}${came}${end}`;
}

import { z } from 'zod';
import { type Command, optionValue, UsageError, wholeNumber } from '../core/command.js';
import { moment, printable, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from './client.js';

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
  text: z.string().nullable(),
  created_at: z.string(),
});
type Row = z.output<typeof Row>;
const Rows = z.object({ incidents: z.array(Row) });
const Pardoned = z.looseObject({
  id: z.number(),
  nick: z.string(),
  channel: z.string(),
  already: z.boolean(),
});

const page = 500;

/** `relay incidents` */
export const incidentsCommand: Command = {
  name: 'incidents',
  also: ['incidents list'],
  summary: 'List what the guardian took for attacks, newest first',
  options: { limit: { value: 'N', says: 'at most so many (default: 50)' }, ...serviceOptions },
  async run(invocation) {
    const limit = wholeNumber(invocation, 'limit') ?? 50;
    const service = serviceOf(invocation);
    const rows: Row[] = [];
    for (let before = ''; rows.length < limit; before = `&before=${rows.at(-1)!.id}`) {
      const wanted = Math.min(page, limit - rows.length);
      const answer = await service.ask('GET', `/ops/incidents?limit=${wanted}${before}`);
      const { incidents } = Rows.parse(answer);
      rows.push(...incidents);
      if (incidents.length < wanted) break;
    }
    const { json, terminal } = invocation;
    if (json) terminal.out(JSON.stringify({ incidents: rows }));
    else if (rows.length === 0) terminal.out('none');
    else {
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
    }
  },
};

/** `relay incidents pardon` */
export const pardonCommand: Command = {
  name: 'incidents pardon',
  arguments: ['<id>'],
  summary: 'Say that an incident was none: it no longer counts, and what runs because of it ends',
  details: 'What was said stays recorded, and so does the pardon, with the name of the key.',
  options: { reason: { value: 'TEXT', says: 'why, for those who read it later' }, ...serviceOptions },
  async run(invocation) {
    const [id = ''] = invocation.arguments;
    if (!/^[1-9]\d{0,14}$/.test(id)) throw new UsageError('<id> must be the number of an incident');
    const reason = optionValue(invocation, 'reason') ?? '';
    const answer = await serviceOf(invocation).ask('POST', `/ops/incidents/${id}/pardon`, { reason });
    const { json, terminal } = invocation;
    const { nick, channel, already } = Pardoned.parse(answer);
    if (json) terminal.out(JSON.stringify(answer));
    else
      terminal.out(
        printable(
          `incident ${id} of ${nick} in ${channel} ${already ? 'was pardoned before' : 'is pardoned'}`,
        ),
      );
  },
};

function becameOf({ action, outcome, error, lifted_at, pardoned_at }: Row): string {
  const end = pardoned_at ? ', pardoned' : lifted_at ? ', lifted' : '';
  if (action === 'none') return `none${error ? ` (${error})` : ''}${end}`;
  const came = outcome === null || outcome === 'done' ? '' : `: ${outcome}${error ? ` (${error})` : ''}`;
  return `${action}${came}${end}`;
}

import { z } from 'zod';
import { type Command, Failed, type Invocation, UsageError, wholeNumber } from '../core/command.js';
import { noProgress, showProgress } from '../core/progress.js';
import { moment, printable, styled, writeTable } from '../core/terminal.js';
import { type ServiceClient, serviceOf, serviceOptions } from './client.js';

const Row = z.looseObject({
  id: z.coerce.number(),
  event_id: z.string(),
  event_type: z.string(),
  status: z.string(),
  retry_count: z.number(),
  last_error: z.string().nullable(),
  created_at: z.string(),
});
type Row = z.output<typeof Row>;
const Rows = z.object({ dead_letters: z.array(Row) });

const page = 500;
const expired = { says: 'events that waited too long, instead of those that failed too often' };

/** `relay dead-letters` */
export const deadLettersCommand: Command = {
  name: 'dead-letters',
  also: ['dead-letters list'],
  summary: 'List the events that were given up, newest first',
  options: {
    expired,
    limit: { value: 'N', says: 'at most so many (default: 100)' },
    ...serviceOptions,
  },
  async run(invocation) {
    const limit = wholeNumber(invocation, 'limit') ?? 100;
    const rows: Row[] = [];
    for await (const row of givenUp(serviceOf(invocation), statusOf(invocation))) {
      if (rows.push(row) >= limit) break;
    }
    const { json, terminal } = invocation;
    if (json) terminal.out(JSON.stringify({ dead_letters: rows }));
    else if (rows.length === 0) terminal.out('none');
    else {
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
    }
  },
};

/** `relay dead-letters show` */
export const showDeadLetterCommand: Command = {
  name: 'dead-letters show',
  arguments: ['<event_id>'],
  summary: 'Show all that is known about one event',
  options: serviceOptions,
  async run(invocation) {
    const { json, terminal } = invocation;
    const row = await serviceOf(invocation).ask('GET', pathOf(invocation.arguments[0]!));
    if (json) {
      terminal.out(JSON.stringify(row));
      return;
    }
    const fields = Object.entries(row as Record<string, unknown>);
    const width = Math.max(...fields.map(([name]) => name.length));
    for (const [name, value] of fields) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      terminal.out(`${styled(terminal, 'bold', name.padEnd(width))}  ${printable(text)}`);
    }
  },
};

/** `relay dead-letters redrive` */
export const redriveCommand: Command = {
  name: 'dead-letters redrive',
  arguments: ['[event_id]'],
  summary: 'Send given-up events again, to the channels that have not shown them',
  details: 'A redriven event begins anew: no failures counted, and its whole time to live before it.',
  options: { all: { says: 'every dead letter' }, expired, ...serviceOptions },
  async run(invocation) {
    const [eventId] = invocation.arguments;
    const all = invocation.options.has('all');
    if (all === (eventId !== undefined)) throw new UsageError('say which: one event_id, or --all');
    const service = serviceOf(invocation);
    if (eventId !== undefined) {
      const answer = await service.ask('POST', `${pathOf(eventId)}/redrive`, {});
      const { channels } = z.object({ channels: z.array(z.string()) }).parse(answer);
      if (invocation.json) invocation.terminal.out(JSON.stringify(answer));
      else invocation.terminal.out(printable(`${eventId}: to be shown in ${channels.join(', ')}`));
    } else await redriveAll(invocation, service);
  },
};

async function redriveAll(invocation: Invocation, service: ServiceClient): Promise<void> {
  const { json, terminal } = invocation;
  // collected first: the list changes under the hands of whoever redrives from it
  const ids: string[] = [];
  for await (const row of givenUp(service, statusOf(invocation))) ids.push(row.event_id);
  const progress = json ? noProgress : showProgress(terminal, 'redriving');
  const failed: { event_id: string; error: string }[] = [];
  for (const [index, event_id] of ids.entries()) {
    try {
      await service.ask('POST', `${pathOf(event_id)}/redrive`, {});
    } catch (error) {
      // somebody else was faster with this one; without the service there is no point in going on
      if (!(error instanceof Failed) || error.code.startsWith('service_') || error.code === 'interrupted')
        throw error;
      failed.push({ event_id, error: error.message });
    }
    progress.to(index + 1, ids.length);
  }
  progress.end();
  const redriven = ids.length - failed.length;
  if (json) terminal.out(JSON.stringify({ redriven, failed }));
  else terminal.out(`${redriven} redriven`);
  if (failed.length === 0) return;
  if (!json) for (const { event_id, error } of failed) terminal.err(printable(`${event_id}: ${error}`));
  throw new Failed(`${failed.length} could not be redriven`, 'redrive_incomplete');
}

async function* givenUp(service: ServiceClient, status: string): AsyncGenerator<Row> {
  for (let before = ''; ; ) {
    const answer = await service.ask('GET', `/ops/dead-letters?status=${status}&limit=${page}${before}`);
    const rows = Rows.parse(answer).dead_letters;
    yield* rows;
    if (rows.length < page) return;
    before = `&before=${Math.min(...rows.map((row) => row.id))}`;
  }
}

function statusOf(invocation: Invocation): string {
  return invocation.options.has('expired') ? 'expired' : 'dead_letter';
}

function pathOf(eventId: string): string {
  return `/ops/dead-letters/${encodeURIComponent(eventId)}`;
}

import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isAheadOfLog } from '../../../projections/core/status.js';
import {
  type Command,
  Failed,
  type Invocation,
  optionValue,
  UsageError,
  wholeNumber,
} from '../core/command.js';
import { noProgress, showProgress } from '../core/progress.js';
import { printable, writeTable } from '../core/terminal.js';
import { type ServiceClient, serviceOf, serviceOptions } from '../service/client.js';

/** How the service tells of one build of a read model. */
export const Status = z.object({
  name: z.string(),
  version: z.number(),
  schema: z.string(),
  state: z.enum(['building', 'live', 'halted']),
  streams: z.array(z.object({ stream: z.string(), position: z.number(), head: z.number(), lag: z.number() })),
  error: z.object({ stream: z.string(), seq: z.number(), message: z.string() }).nullable(),
});
export type Status = z.output<typeof Status>;
const Statuses = z.object({ projections: z.array(Status) });

const pollMs = 200;
const styles = { building: 'yellow', live: 'green', halted: 'red' } as const;

/** `relay projections` */
export const projectionsCommand: Command = {
  name: 'projections',
  also: ['projections list', 'projections status'],
  summary: 'List the read models, and how far each lags behind the log',
  options: serviceOptions,
  async run(invocation) {
    const { json, terminal } = invocation;
    const projections = await statuses(serviceOf(invocation));
    if (json) {
      terminal.out(JSON.stringify({ projections }));
      return;
    }
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
  },
};

/** `relay projections rebuild` */
export const rebuildCommand: Command = {
  name: 'projections rebuild',
  arguments: ['<name>'],
  summary: 'Fold a read model again from the first fact, and wait until it is live',
  details:
    'Readers see the old tables until the new ones have caught up. The old ones stay until "relay projections prune".',
  options: serviceOptions,
  async run(invocation) {
    const { json, terminal } = invocation;
    const service = serviceOf(invocation);
    const answer = await service.ask('POST', `${pathOf(invocation)}/rebuild`, {});
    const { schema } = z.object({ schema: z.string() }).parse(answer);
    const progress = json ? noProgress : showProgress(terminal, schema);
    for (;;) {
      const status = (await statuses(service)).find((one) => one.schema === schema);
      if (status?.error) throw new Failed(haltOf(status), 'halted', mendHint(status));
      if (status) progress.to(sum(status, 'position'), sum(status, 'head'));
      if (status?.state === 'live') {
        progress.end();
        terminal.out(json ? JSON.stringify(status) : printable(`${schema} is live`));
        return;
      }
      await delay(pollMs, undefined, { signal: invocation.stop }).catch(() => {
        throw new Failed('interrupted: the service goes on building it', 'interrupted');
      });
    }
  },
};

/** `relay projections skip` */
export const skipCommand: Command = {
  name: 'projections skip',
  arguments: ['<name>'],
  summary: 'Let a halted read model go on without the fact that it cannot fold',
  details: 'What is skipped is recorded with its reason and with the name of the key that asked for it.',
  options: {
    stream: { value: 'STREAM', needed: true, says: 'stream of the fact' },
    seq: { value: 'SEQ', needed: true, says: 'its sequence, as "relay projections" names it' },
    reason: { value: 'TEXT', needed: true, says: 'why it may be left out' },
    ...serviceOptions,
  },
  async run(invocation) {
    const name = invocation.arguments[0]!;
    const body = {
      stream: needed(invocation, 'stream').toUpperCase(),
      seq: wholeNumber(invocation, 'seq') ?? Number(needed(invocation, 'seq')),
      reason: needed(invocation, 'reason'),
    };
    const service = serviceOf(invocation);
    const status = (await statuses(service)).find((one) => one.name === name && isAheadOfLog(one));
    // the service would record it, and the read model halt again: no fact is to blame
    if (status) throw new Failed(haltOf(status), 'ahead_of_log', mendHint(status));
    const answer = await service.ask('POST', `${pathOf(invocation)}/skip`, body);
    if (invocation.json) invocation.terminal.out(JSON.stringify(answer));
    else invocation.terminal.out(printable(`${name} goes on without ${body.stream} ${body.seq}`));
  },
};

/** `relay projections prune` */
export const pruneCommand: Command = {
  name: 'projections prune',
  summary: 'Drop the tables of versions that are not used any more',
  options: serviceOptions,
  async run(invocation) {
    const answer = await serviceOf(invocation).ask('POST', '/ops/projections/prune', {});
    const { dropped } = z.object({ dropped: z.array(z.string()) }).parse(answer);
    if (invocation.json) invocation.terminal.out(JSON.stringify({ dropped }));
    else
      for (const schema of dropped.length > 0 ? dropped : ['nothing to drop'])
        invocation.terminal.out(printable(schema));
  },
};

/** Every build of every read model. Throws `Failed` when the service does not tell. */
export async function statuses(service: ServiceClient): Promise<Status[]> {
  return Statuses.parse(await service.ask('GET', '/ops/projections')).projections;
}

function sum({ streams }: Status, field: 'position' | 'head'): number {
  return streams.reduce((total, stream) => total + stream[field], 0);
}

function haltOf({ name, error }: Status): string {
  return printable(`${name} has halted at ${error!.stream} ${error!.seq}: ${error!.message}`);
}

function mendHint(status: Status): string {
  const { name, error } = status;
  const { stream, seq } = error!;
  if (isAheadOfLog(status))
    return [
      'Bring back:       the log as it was: a copy of its store, or relay import of an export',
      `Or go on with it: relay projections rebuild ${name}`,
    ].join('\n');
  return [
    `Look at it:       relay events ${stream} --from ${seq} --to ${seq}`,
    `Go on without it: relay projections skip ${name} --stream ${stream} --seq ${seq} --reason TEXT`,
  ].join('\n');
}

function pathOf(invocation: Invocation): string {
  return `/ops/projections/${encodeURIComponent(invocation.arguments[0]!)}`;
}

function needed(invocation: Invocation, option: string): string {
  const value = optionValue(invocation, option);
  if (value === undefined || value === '') throw new UsageError(`--${option} is missing`);
  return value;
}

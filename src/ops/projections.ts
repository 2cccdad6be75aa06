import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type ServiceClient, serviceOf, serviceOptions } from './client.js';
import { type Command, Failed, type Invocation, optionValue, UsageError, wholeNumber } from './command.js';
import { printable } from './terminal.js';

const Status = z.looseObject({ name: z.string() });

/** `relay projections` */
export const projectionsCommand: Command = {
  name: 'projections',
  summary: 'List the read models, and how far each lags behind the log',
  options: serviceOptions,
  async run(invocation) {
    const answer = await serviceOf(invocation).ask('GET', '/ops/projections');
    invocation.terminal.out(JSON.stringify(answer));
  },
};

/** `relay projections rebuild` */
export const rebuildCommand: Command = {
  name: 'projections rebuild',
  arguments: ['<name>'],
  summary: 'Fold a read model again from the first fact, and wait until it is live',
  options: serviceOptions,
  async run(invocation) {
    await serviceOf(invocation).ask(
      'POST',
      `/ops/projections/${encodeURIComponent(invocation.arguments[0]!)}/rebuild`,
      {},
    );
  },
};

/** `relay projections skip` */
export const skipCommand: Command = {
  name: 'projections skip',
  arguments: ['<name>'],
  summary: 'Let a halted read model go on without the fact that it cannot fold',
  details: 'What is skipped is recorded with its reason and with the name of the key that asked for it.',
  options: {
    stream: { value: 'STREAM', says: 'stream of the fact' },
    seq: { value: 'SEQ', says: 'its sequence, as "relay projections" names it' },
    reason: { value: 'TEXT', says: 'why it may be left out' },
    ...serviceOptions,
  },
  async run(invocation) {
    const name = invocation.arguments[0]!;
    const body = {
      stream: needed(invocation, 'stream').toUpperCase(),
      seq: wholeNumber(invocation, 'seq') ?? Number(needed(invocation, 'seq')),
      reason: needed(invocation, 'reason'),
    };
    const answer = await serviceOf(invocation).ask(
      'POST',
      `/ops/projections/${encodeURIComponent(name)}/skip`,
      body,
    );
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

function needed(invocation: Invocation, option: string): string {
  const value = optionValue(invocation, option);
  if (value === undefined || value === '') throw new UsageError(`--${option} is missing`);
  return value;
}

import { RelayError } from '../../client/error.js';
import { defineCommand, flag, type Invocation } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { print, printable } from '../core/terminal.js';
import { type ServiceClient, serviceOf, serviceOptions } from '../service/client.js';
import { deadLetters, expiredOption } from './queue.js';

/** `relay dead-letters redrive` */
export const redriveCommand = defineCommand({
  name: 'dead-letters redrive',
  arguments: ['[event_id]'],
  summary: 'Send given-up events again, to the channels that have not shown them',
  details: 'A redriven event starts again: with no failures, and with its full time to live.',
  options: { all: flag('every dead letter'), ...expiredOption, ...serviceOptions },
  async run(invocation) {
    const [eventId] = invocation.arguments;
    const { options } = invocation;
    if (options.all === (eventId !== undefined)) throw new UsageError('say which: one event_id, or --all');
    const service = serviceOf(invocation, options);
    if (eventId === undefined) return await redriveAll(invocation, service, options);
    const answer = await redrive(service, eventId);
    print(invocation, answer, `${eventId}: to be shown in ${answer.channels.join(', ')}`);
  },
});

const redrive = (service: ServiceClient, event_id: string) =>
  service.api.post('/ops/dead-letters/{event_id}/redrive', { params: { path: { event_id } } });

async function redriveAll(
  invocation: Invocation,
  service: ServiceClient,
  which: { expired: boolean },
): Promise<void> {
  // collected first: the list changes under the hands of whoever redrives from it
  const ids: string[] = [];
  for await (const row of deadLetters(service, which)) ids.push(row.event_id);
  const progress = showProgress(invocation, 'redriving');
  const failed: { event_id: string; error: string }[] = [];
  for (const [index, event_id] of ids.entries()) {
    try {
      await redrive(service, event_id);
    } catch (error) {
      // somebody else was faster with this one; without the service there is no point in going on
      if (!(error instanceof RelayError)) throw error;
      failed.push({ event_id, error: error.message });
    }
    progress.to(index + 1, ids.length);
  }
  progress.end();
  const redriven = ids.length - failed.length;
  print(invocation, { redriven, failed }, () => {
    invocation.terminal.out(`${redriven} redriven`);
    for (const { event_id, error } of failed) invocation.terminal.err(printable(`${event_id}: ${error}`));
  });
  if (failed.length > 0) throw new Failed(`${failed.length} could not be redriven`, 'redrive_incomplete');
}

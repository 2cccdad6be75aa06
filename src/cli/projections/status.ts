import { isAheadOfLog } from '../../../projections/core/status.js';
import { printable } from '../core/terminal.js';
import type { Answer, ServiceClient } from '../service/client.js';

/** How the service tells of one build of a read model. */
export type Status = Answer<'/ops/projections'>['projections'][number];

/** Every build of every read model. Throws `Failed` when the service does not tell. */
export async function statuses(service: ServiceClient): Promise<Status[]> {
  return (await service.api.get('/ops/projections')).projections;
}

/** How many facts of all its streams a build has folded, has to fold, or lags behind. */
export function sum({ streams }: Status, field: 'position' | 'head' | 'lag'): number {
  return streams.reduce((total, stream) => total + stream[field], 0);
}

/** Why one has halted. */
export function haltOf({ name, error }: Status): string {
  return printable(`${name} has halted at ${error!.stream} ${error!.seq}: ${error!.message}`);
}

/** What to do about one that has halted. */
export function mendHint(status: Status): string {
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

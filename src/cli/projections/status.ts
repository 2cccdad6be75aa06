import { z } from 'zod';
import { isAheadOfLog } from '../../../projections/core/status.js';
import { printable } from '../core/terminal.js';
import type { ServiceClient } from '../service/client.js';

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

/** Every build of every read model. Throws `Failed` when the service does not tell. */
export async function statuses(service: ServiceClient): Promise<Status[]> {
  return Statuses.parse(await service.ask('GET', '/ops/projections')).projections;
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

/** Where the service tells of one of them. */
export function projectionPath(name: string): string {
  return `/ops/projections/${encodeURIComponent(name)}`;
}

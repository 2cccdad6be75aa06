import { z } from 'zod';
import { flag } from '../core/command.js';
import type { ServiceClient } from '../service/client.js';

const DeadLetter = z.looseObject({
  id: z.coerce.number(),
  event_id: z.string(),
  event_type: z.string(),
  status: z.string(),
  retry_count: z.number(),
  last_error: z.string().nullable(),
  created_at: z.string(),
});
const DeadLetters = z.object({ dead_letters: z.array(DeadLetter) });
const page = 500;

/** An event that was given up. */
export type DeadLetter = z.output<typeof DeadLetter>;

/** Which of the two kinds of them is meant. */
export const expiredOption = {
  expired: flag('events that waited too long, instead of those that failed too often'),
};

/** The events that were given up, newest first. */
export async function* deadLetters(
  service: ServiceClient,
  { expired }: { expired: boolean },
): AsyncGenerator<DeadLetter> {
  const status = expired ? 'expired' : 'dead_letter';
  for (let before = ''; ; ) {
    const answer = await service.ask('GET', `/ops/dead-letters?status=${status}&limit=${page}${before}`);
    const rows = DeadLetters.parse(answer).dead_letters;
    yield* rows;
    if (rows.length < page) return;
    before = `&before=${Math.min(...rows.map((row) => row.id))}`;
  }
}

/** Where the service tells of one of them. */
export function deadLetterPath(eventId: string): string {
  return `/ops/dead-letters/${encodeURIComponent(eventId)}`;
}

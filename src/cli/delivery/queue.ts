import { flag } from '../core/command.js';
import type { Answer, ServiceClient } from '../service/client.js';

const page = 500;

/** An event that was given up. */
export type DeadLetter = Answer<'/ops/dead-letters'>['dead_letters'][number];

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
  for (let before: number | undefined; ; ) {
    const query = { status, limit: page, ...(before === undefined ? {} : { before }) } as const;
    const { dead_letters: rows } = await service.api.get('/ops/dead-letters', { params: { query } });
    yield* rows;
    if (rows.length < page) return;
    before = Math.min(...rows.map((row) => row.id));
  }
}

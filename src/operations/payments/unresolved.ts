import { type UnresolvedPayment, unresolvedPayments } from '../../../projections/payments/queries.js';
import { claimMs } from '../../../streams/payments/index.js';
import type { ReadModels } from '../../stores/read-models.js';

/** How long a payment may be under way before anybody needs to know, in milliseconds. */
const underWayMs = 15_000;

/** The payments that somebody may have to look after: at most 500, the oldest first. Throws `Unavailable`. */
export async function unresolvedIn(readModels: ReadModels, now: Date): Promise<UnresolvedPayment[]> {
  const since = new Date(now.getTime() - claimMs);
  const until = new Date(now.getTime() - underWayMs);
  return await readModels.read('payments', (sql, schema) =>
    unresolvedPayments(sql, schema, { since, until }),
  );
}

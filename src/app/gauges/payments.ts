import type { UnresolvedPayment } from '../../../projections/payments/queries.js';
import type { Reading } from '../../metrics/metrics.js';

/** How many payments somebody may have to look after, by what is the matter. */
export async function readUnresolved(unresolved: () => Promise<UnresolvedPayment[]>): Promise<Reading[]> {
  const all = await unresolved();
  return (['unknown', 'owed'] as const).map((state) => [
    'payments_unresolved',
    all.filter((payment) => payment.state === state).length,
    { state },
  ]);
}

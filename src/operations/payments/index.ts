import { buyAccess } from './buy-access.js';
import {
  getPaidChannel,
  getPaymentsHealth,
  listPaidChannels,
  listSessions,
  listUnresolvedPayments,
} from './reads.js';

export type { PaymentsParts } from './parts.js';

/** Channels that cost something, bought with x402. */
export const paymentsOperations = [
  listPaidChannels,
  getPaidChannel,
  listSessions,
  buyAccess,
  listUnresolvedPayments,
  getPaymentsHealth,
];

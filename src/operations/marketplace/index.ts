import type { AnyOperation } from '../core/operation.js';
import { listAudit } from './audit.js';
import { getEconomicActivity } from './economic-activity.js';
import { passedOn } from './passing-on.js';

export type { MarketplaceParts } from './passing-on.js';

/** The task marketplace that this service passes requests to, and the record of changes made there. */
export const marketplaceOperations: AnyOperation[] = [
  getEconomicActivity,
  ...Object.values(passedOn),
  listAudit,
];

import type { AnyOperation } from './core/operation.js';
import { incidentsOperations } from './incidents/index.js';
import { marketplaceOperations } from './marketplace/index.js';
import { reputationOperations } from './reputation/index.js';

/** Every operation of the service, by slice. */
export const operations: readonly AnyOperation[] = [
  ...reputationOperations,
  ...marketplaceOperations,
  ...incidentsOperations,
];

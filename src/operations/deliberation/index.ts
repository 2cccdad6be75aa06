import { changeVisibility, createQuery, injectContext } from './commands.js';
import {
  getCostSummary,
  getDeliberationHealth,
  getQuery,
  getQueryCosts,
  getQueryResult,
  listModels,
  listQueries,
  listResponses,
} from './reads.js';

/** Several language models asked at once. */
export const deliberationOperations = [
  listModels,
  createQuery,
  getQuery,
  getQueryResult,
  listResponses,
  injectContext,
  changeVisibility,
  listQueries,
  getQueryCosts,
  getCostSummary,
  getDeliberationHealth,
];

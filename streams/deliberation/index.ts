export * from './facts.js';
export { costOf, nanoUsd, type Prices, type Tokens, usd } from './money.js';
export {
  attemptUnderWay,
  isOvertaken,
  mayRead,
  type QueryCommand,
  type QueryState,
  queryDecider,
  queryNotFound,
} from './query.js';

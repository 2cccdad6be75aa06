import { inOtherLanguages } from './languages.js';
import { moneyRules } from './money.js';
import { orderRules } from './orders.js';
import { reachRules } from './reach.js';
import type { Rule } from './rule.js';
import { secretRules } from './secrets.js';

/** Every rule. Incidents have their ids, so they are never given to another one. */
export const rules: readonly Rule[] = [
  ...orderRules,
  ...secretRules,
  ...moneyRules,
  ...reachRules,
  inOtherLanguages,
];

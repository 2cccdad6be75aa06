export { type Rating, type ReputationFact, reputation } from './facts.js';
export { feedbackDecider, type GiveFeedback } from './feedback.js';
export { decayAt, scoreOf, weightAt } from './score.js';

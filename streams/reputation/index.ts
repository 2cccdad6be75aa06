export {
  type FeedbackGiven,
  type FeedbackSource,
  type Rating,
  type ReputationFact,
  reputation,
} from './facts.js';
export { type AnswerFeedback, feedbackDecider, type GiveFeedback } from './feedback.js';
export { decayAt, scoreOf, strengthOf, weightAt } from './score.js';

export {
  type Granted,
  type Holder,
  type Intended,
  type PaymentFact,
  paymentId,
  paymentSubject,
  payments,
  placesSubject,
  type Terms,
} from './facts.js';
export { type Fate, isTooLate, keepUntil, notKnownMs, sessionOf } from './intent.js';
export {
  claimMs,
  liveSessionOf,
  type PlacesCommand,
  type PlacesState,
  placesDecider,
  spent,
} from './places.js';

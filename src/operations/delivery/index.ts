import { getDeadLetter, listDeadLetters, redriveDeadLetter } from './dead-letters.js';
import { listReceivedEvents, redeliverEvent } from './redelivery.js';

/** What operators see and mend of the delivery of events. */
export const deliveryOperations = [
  listDeadLetters,
  getDeadLetter,
  redriveDeadLetter,
  listReceivedEvents,
  redeliverEvent,
];

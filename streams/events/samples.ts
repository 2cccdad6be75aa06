import type { MarketPayload } from './event.js';

const publisher = { publisher_nick: 'harbour-ops' };
const worker = { worker_nick: 'scout-7' };
const bounty = { bounty_usdc: 25, network: 'base' };
const title = { title: 'Photograph the opening hours of the city library' };
const transaction = { tx_hash: `0x${'5eed'.repeat(16)}` };
const dispute = { dispute_case_id: 'case-118', reason: 'The photos show another building' };

const published = {
  ...title,
  ...bounty,
  ...publisher,
  category: 'physical_presence',
  location: 'Lisbon, PT',
};
const completed = { ...title, ...bounty, ...worker, ...transaction };
const paid = { ...bounty, ...worker, ...transaction };
const rating = { ...worker, score: 5, comment: 'On time, and every photo is sharp' };

const taskSamples: Record<string, MarketPayload> = {
  'task.created': published,
  'task.published': published,
  'task.assigned': {
    ...title,
    ...bounty,
    ...publisher,
    ...worker,
    escrow_amount: 25,
    category: 'physical_presence',
  },
  'task.approved': completed,
  'task.completed': completed,
  'task.rejected': { ...worker, reason: 'The second photo is missing' },
  'task.cancelled': { ...publisher, cancellation_reason: 'The library closed for good' },
  'task.mutual_cancel': { ...publisher, ...worker, reason: 'Both sides agreed' },
  'task.disputed': { ...worker, ...dispute },
  'task.expired': title,
  'submission.received': worker,
  'submission.approved': completed,
  'submission.rejected': { ...worker, reason: 'The second photo is missing' },
  'payment.settled': paid,
  'payment.escrow_released': { ...paid, escrow_amount: 25 },
  'payment.released': paid,
  'rating.created': rating,
  'reputation.feedback': rating,
  'reputation.updated': { ...worker, score: 87 },
};

const relaySamples: Record<string, MarketPayload> = {
  'relay.leg_started': { leg_number: 1, origin: 'Lisbon', destination: 'Porto' },
  'relay.handoff': { leg_number: 1, from_worker: 'scout-7', to_worker: 'courier-3' },
  'relay.completed': { total_legs: 2, total_bounty: 60 },
};

/** The event types that there is a sample for: all that the routing table names. */
export const sampleTypes = Object.keys({ ...taskSamples, ...relaySamples });

/** A payload such as a marketplace sends with events of the type; `undefined` for types without a sample. */
export function samplePayload(eventType: string, task: string): MarketPayload | undefined {
  const aboutTask = taskSamples[eventType];
  if (aboutTask) return { id: task, ...aboutTask };
  const aboutRelay = relaySamples[eventType];
  return aboutRelay && { id: task, relay_id: task, ...aboutRelay };
}

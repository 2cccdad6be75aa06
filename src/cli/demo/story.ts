import type { MarketPayload } from '../../../streams/events/event.js';
import { samplePayload } from '../../../streams/events/samples.js';
import { newTaskId } from '../events/task-id.js';

/** A part of the demo: what happens in it, in order. */
export interface Act {
  title: string;
  events: { type: string; payload: MarketPayload }[];
}

/**
 * The lives of a few tasks and of a relay chain, with ids of their own each time. The tasks are published by `publisher`,
 * who is in their rooms because of that.
 */
export function story(publisher: string): Act[] {
  const [photo, parcel, survey, errand, chain] = [
    newTaskId(),
    newTaskId(),
    newTaskId(),
    newTaskId(),
    newTaskId(),
  ];
  const event = (type: string, task: string, fields: MarketPayload = {}) => ({
    type,
    payload: { ...samplePayload(type, task), publisher_nick: publisher, ...fields },
  });
  const parcelFields = {
    title: 'Carry a parcel across town',
    category: 'simple_action',
    location: 'São Paulo, BR',
    bounty_usdc: 12.5,
    escrow_amount: 12.5,
  };
  const surveyFields = { title: 'Count the bicycles at the station', location: 'Kyoto, JP', bounty_usdc: 8 };
  return [
    {
      title: 'A task is published, taken, done, paid and rated',
      events: [
        event('task.published', photo),
        event('task.assigned', photo),
        event('task.completed', photo),
        event('payment.settled', photo),
        event('rating.created', photo),
      ],
    },
    {
      title: 'A submission is rejected and disputed',
      events: [
        event('task.published', parcel, parcelFields),
        event('task.assigned', parcel, {
          ...parcelFields,
          worker_nick: null,
          worker_wallet: `0x${'c0ffee42'.repeat(5)}`,
        }),
        event('task.rejected', parcel, { reason: 'The parcel came to the wrong door' }),
        event('task.disputed', parcel, { reason: 'The door was the one on the label' }),
      ],
    },
    {
      title: 'One task is cancelled, another one finds nobody',
      events: [
        event('task.published', survey, surveyFields),
        event('task.cancelled', survey, { cancellation_reason: 'The station is closed this week' }),
        event('task.published', errand, {
          title: 'Queue for concert tickets',
          category: 'human_authority',
          location: null,
        }),
        event('task.expired', errand),
      ],
    },
    {
      title: 'A relay chain brings something from Lisbon to Braga',
      events: [
        event('relay.leg_started', chain, { leg_number: 1, origin: 'Lisbon', destination: 'Porto' }),
        event('relay.handoff', chain, { leg_number: 1, from_worker: 'scout-7', to_worker: 'courier-3' }),
        event('relay.leg_started', chain, { leg_number: 2, origin: 'Porto', destination: 'Braga' }),
        event('relay.completed', chain),
      ],
    },
  ];
}

import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** Which event of the market stream a delivery fact is about. */
const event = {
  /** Sequence of the event in the market stream. */
  seq: z.int().positive(),
  event_id: z.string(),
  /** Which of the deliberate repetitions it is about, from 1; absent for the first showing of the event. */
  showing: z.int().positive().optional(),
};

const confirmedLine = z.object({
  ...event,
  channel: z.string(),
  /** How the network confirmed it: the server's echo, a fence after the line, or the channel's history. */
  via: z.enum(['echo', 'fence', 'history']),
  /** Whether this line completes the delivery of its event. */
  completes: z.boolean(),
});

/** What became of each event on its way into the channels. */
export const delivery = defineStream({
  name: 'DELIVERY',
  description: 'What became of each event on its way into the channels.',
  essential: true,
  subjects: ['delivery.>'],
  share: 3,
  facts: {
    /** Lines that were shown, many events in one fact: confirmations come faster than single facts reach the disk. */
    'lines.confirmed': z.object({ lines: z.array(confirmedLine).min(1) }),
    /** The network refused a line, or did not confirm it in time. */
    'attempt.failed': z.object({
      ...event,
      channel: z.string(),
      /** Failed attempts of this channel since the event was received or redriven. */
      failures: z.int().positive(),
      /** Failed attempts of the event: the most that any of its channels has. */
      retry_count: z.int().positive(),
      error: z.string(),
    }),
    'event.dead_lettered': z.object({
      ...event,
      retry_count: z.int().positive(),
      last_error: z.string(),
      delivered: z.array(z.string()),
      undelivered: z.array(z.string()).min(1),
    }),
    'event.expired': z.object({
      ...event,
      delivered: z.array(z.string()),
      undelivered: z.array(z.string()).min(1),
    }),
    /** An operator gave a dead-lettered or expired event a fresh retry count and a fresh time to live. */
    'event.redriven': z.object({
      ...event,
      delivered: z.array(z.string()),
      undelivered: z.array(z.string()).min(1),
    }),
    /** An operator had a delivered event shown once more in some of its channels. */
    'event.redelivered': z.object({
      ...event,
      showing: z.int().positive(),
      /** The command that asked for it, which may be about many events: repeated, it changes nothing. */
      run: z.string().min(1),
      channels: z.array(z.string()).min(1),
    }),
  },
});

export type DeliveryFact = FactOf<typeof delivery>;
export type ConfirmedLine = z.output<typeof confirmedLine>;

/** Subject of the confirmations of all events. */
export const confirmationsSubject = 'delivery.lines';

/** Subject of all other facts about one event. Redrives of the same event exclude each other here. */
export function deliverySubject(token: string): string {
  return `delivery.event.${token}`;
}

import type { About } from '../core/projection.js';

/** What people are told of the tables of the event queue. */
export const aboutQueue: About = {
  events: {
    says: 'Events that were accepted, one row each. Never changed.',
    columns: {
      id: 'Sequence of the event in the stream MARKET.',
      event_id: 'Id that the producer gave it.',
      event_type: 'Its type, such as task.published.',
      source: 'Who says that it happened.',
      payload: 'What the producer sent about it.',
      target_channels: 'Channels that its line is for.',
      formatted_message: 'The line.',
      created_at: 'When the log stored it.',
    },
    json: ['payload', 'target_channels'],
  },
  outcomes: {
    says: 'What became of events. An event without a row here is pending.',
    columns: {
      id: 'Sequence of the event, as in events.',
      status: 'One of pending, delivered, dead_letter or expired.',
      retry_count: 'How often delivery failed since it was received or redriven.',
      last_error: 'Why it failed the last time.',
      delivered_at: 'When all of its channels had the line.',
      ended_at: 'When it was delivered, given up or expired.',
      lines: 'By channel: when it was shown or failed, and how often. Until the event is delivered.',
    },
    json: ['lines'],
  },
  received: {
    says: 'How many events were accepted.',
    columns: {
      only_row: 'Always true: the table has one row.',
      events: 'Events so far.',
      last_at: 'When the last one came.',
    },
  },
  statuses: {
    says: 'How many events have a status. Those without an outcome are not counted.',
    columns: {
      status: 'As in outcomes.',
      events: 'Events with it now.',
    },
  },
  deliveries: {
    says: 'How many events were delivered on a day.',
    columns: {
      day: 'Day in UTC.',
      events: 'Events that were delivered on it.',
    },
  },
};

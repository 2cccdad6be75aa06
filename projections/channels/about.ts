import type { About } from '../core/projection.js';

/** What people are told of the tables of the channel directory. */
export const aboutDirectory: About = {
  channels: {
    says: 'Managed channels, one row for each name that was ever used.',
    columns: {
      name: 'Name in lower case, with its #.',
      type: 'Kind of channel, such as task or relay.',
      modes: 'Modes that it must have.',
      topic: 'Topic that it must have.',
      metadata: 'What was given with it when it was made.',
      invited: 'Nicks that were asked in and not parted since.',
      founding: 'Of those, the ones asked in when it was made.',
      life: 'Sequence of the fact that made it, in the stream CHANNELS.',
      created_at: 'When it was made.',
      archived_at: 'When it was closed to those without voice.',
      archive_reason: 'Why.',
      delete_after: 'When it may be deleted.',
      deleted_at: 'When it was deleted. Its row stays until the name is taken again.',
      last_operation_at: 'When something was last done in it.',
    },
    json: ['metadata', 'invited', 'founding'],
  },
  operations: {
    says: 'Audit records of managed channels, in the order of the log.',
    columns: {
      id: 'Counted from 1.',
      channel: 'Name of the channel.',
      operation: 'What was done, such as create, topic or sajoin.',
      target_nick: 'The nick that it was done to.',
      details: 'What exactly, and who did it.',
      cause: 'One of request, automation or lifecycle.',
      created_at: 'When.',
      private: 'Whether the channel was private before or after it.',
    },
  },
  days: {
    says: 'How many operations a day had.',
    columns: {
      day: 'Day in UTC.',
      operations: 'Operations on it.',
    },
  },
  endings: {
    says: 'When the tasks of channels ended.',
    columns: {
      channel: 'Name of the channel.',
      ended_at: 'When the event of the end was accepted.',
    },
  },
};

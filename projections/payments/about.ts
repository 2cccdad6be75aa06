import type { About } from '../core/projection.js';

/** What people are told of the tables of payments. */
export const aboutPayments: About = {
  sessions: {
    says: 'Sessions in paid channels. Whether one lasts depends on the time: see expires_at and ended_at.',
    columns: {
      session_id: 'Id of the session.',
      channel: 'Channel under the key by which names are compared.',
      nick: 'Nick as it is written.',
      nick_key: 'Nick under the key by which nicks are compared.',
      payer: 'Address that paid.',
      network: 'Chain, such as eip155:8453.',
      amount: 'What was paid, in units of the currency.',
      currency: 'The currency.',
      tx_hash: 'Transaction of the payment.',
      duration_seconds: 'How long was paid for.',
      started_at: 'When it began.',
      expires_at: 'Until when it was paid for.',
      holder: 'Who has it: nick, host and account, as the network said.',
      ended_at: 'When its nick was removed.',
      seq: 'Sequence of the last fact about it, in the stream PAYMENTS.',
    },
  },
  intents: {
    says: 'Payments, from before they were settled.',
    columns: {
      payment: 'Id of the payment.',
      intended: 'What must be paid, for which channel and nick.',
      intended_at: 'When.',
      is_sent: 'Whether it may be settled at all.',
      owed_at: 'Since when it is settled without a session.',
      paid_by: 'Transaction of the payment.',
      reason: 'Why it was refused, or has no session.',
      closed_at: 'When its result became known.',
      seq: 'Sequence of the last fact about it.',
    },
  },
};

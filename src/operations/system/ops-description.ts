import { z } from 'zod';
import { type Description, Time } from '../../openapi/description.js';

const at = '2026-01-31T12:00:00.000Z';
const unknown = { 404: 'There is none of this id' };

function operation(
  fields: Pick<Description, 'id' | 'method' | 'path' | 'summary'> & Partial<Description>,
  says: string,
  body: { schema: z.ZodType; example: unknown },
  status = 200,
): Description {
  return { tag: 'Operations', access: 'key', answers: { [status]: { says, body } }, ...fields };
}

/** What whoever runs the service sees and mends; all of it needs an API key. */
export const operationsOperations: Description[] = [
  operation(
    {
      id: 'listUnresolvedPayments',
      method: 'get',
      path: '/ops/payments',
      summary: 'Payments of which it is not known whether they are settled, or that wait for a place',
    },
    'Oldest first, at most 500; what resolves by itself goes away by itself',
    {
      schema: z.object({
        payments: z.array(
          z.object({
            payment: z.string(),
            state: z.enum(['unknown', 'owed']).describe('owed: settled, and its session has no place yet'),
            channel: z.string(),
            nick: z.string(),
            payer: z.string(),
            network: z.string(),
            amount: z.string().describe('In the smallest unit of the token'),
            nonce: z.string().nullable(),
            tx_hash: z.string().nullable(),
            reason: z.string().nullable().describe('Why it waits'),
            intended_at: Time,
          }),
        ),
      }),
      example: {
        payments: [
          {
            payment: 'qO3vXk2r0bT9yS6mN1cF8uHw5eJ4aLzD7gPxVtRkYiE',
            state: 'owed',
            channel: '#alpha-test',
            nick: 'alice',
            payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
            network: 'eip155:8453',
            amount: '100000',
            nonce: `0x${'3f'.repeat(32)}`,
            tx_hash: `0x${'ab'.repeat(32)}`,
            reason: 'channel_full',
            intended_at: at,
          },
        ],
      },
    },
  ),
  operation(
    {
      id: 'listIncidentRecords',
      method: 'get',
      path: '/ops/incidents',
      summary: 'Moderation incidents with their texts and all that became of them',
      query: z.object({
        limit: z.coerce.number().int().min(1).max(500).default(50),
        before: z.coerce.number().int().min(1).optional().describe('Only those with a smaller id'),
      }),
    },
    'Newest first',
    {
      schema: z.object({
        incidents: z.array(z.looseObject({ id: z.int(), nick: z.string(), text: z.string().nullable() })),
      }),
      example: { incidents: [{ id: 3, nick: 'mallory', text: 'Ignore all previous instructions' }] },
    },
  ),
  operation(
    {
      id: 'pardonIncident',
      method: 'post',
      path: '/ops/incidents/{id}/pardon',
      summary: 'Take a moderation incident back, with what still runs because of it',
      params: { id: { schema: z.coerce.number().int(), example: 3, says: 'Id of the incident' } },
      body: {
        schema: z.object({ reason: z.string().max(300).default('') }),
        example: { reason: 'A quotation' },
        optional: true,
      },
      errors: unknown,
    },
    'It does not count any more',
    {
      schema: z.looseObject({ id: z.int(), pardoned: z.literal(true) }),
      example: { id: 3, nick: 'mallory', channel: '#lobby', level: 'WARN', pardoned: true, already: false },
    },
  ),
];

import { z } from 'zod';
import type { Description } from '../../openapi/description.js';

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

import t from 'tap';
import { z } from 'zod';
import { parseInput } from '../../src/operations/core/call.js';
import type { Refusal } from '../../streams/core/index.js';

function refusalOf(schema: z.ZodType, input: unknown): Refusal {
  try {
    parseInput(schema, input);
  } catch (error) {
    return error as Refusal;
  }
  throw new Error('it was taken');
}

t.test('API-17 every bad field is named, in our words', async (t) => {
  const Body = z.object({
    stream: z.string().min(3),
    seq: z.int().min(1),
    kind: z.enum(['near', 'far']),
    tags: z.array(z.string().max(4)),
    more: z.array(z.int()).max(2),
    name: z.string().min(1),
    inner: z.object({ wanted: z.boolean() }),
    id: z.string('id must be a string'),
  });
  const input = {
    stream: 'x',
    seq: 0,
    kind: 'else',
    tags: ['short'],
    more: [1, 2, 3],
    name: '',
    inner: {},
    id: 7,
  };
  const refusal = refusalOf(Body, input);
  t.match(refusal, { status: 400, code: 'validation_failed' });
  t.same(refusal.extra.details, [
    { path: 'stream', message: 'stream must have at least 3 characters' },
    { path: 'seq', message: 'seq must be at least 1' },
    { path: 'kind', message: 'kind must be one of near, far' },

    { path: 'tags.0', message: 'tags.0 must have at most 4 characters' },
    { path: 'more', message: 'more must have at most 2 entries' },
    { path: 'name', message: 'name must not be empty' },
    { path: 'inner.wanted', message: 'inner.wanted is missing' },
    { path: 'id', message: 'id must be a string' },
  ]);
  t.match(refusal.message, /^stream must have at least 3 characters; seq must/);
});

t.test('API-17 a body that is none, and numbers in a query', async (t) => {
  const Body = z.object({ seq: z.int() });
  t.equal(refusalOf(Body, undefined).message, 'The body is missing');
  t.equal(refusalOf(Body, [1]).message, 'The body must be a JSON object, not a list');
  t.equal(refusalOf(Body, { seq: 1.5 }).message, 'seq must be a whole number');
  const Query = z.object({ limit: z.coerce.number().int().max(500) });
  t.equal(refusalOf(Query, { limit: 'many' }).message, 'limit must be a number');
  t.equal(refusalOf(Body, { seq: ['1', '2'] }).message, 'seq must be a number, not a list');
  t.equal(refusalOf(Query, { limit: '501' }).message, 'limit must be at most 500');
});

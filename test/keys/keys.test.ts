import t from 'tap';
import { agentKey, agentKeys, agentKeysInUse } from '../../projections/keys.js';
import type { Recorded } from '../../streams/core/index.js';
import { type IssuedKey, type KeyFact, keysDecider } from '../../streams/keys/index.js';
import { specification } from '../support/spec.js';
import { eachSql } from '../support/sql.js';

const { given } = specification(keysDecider);
const issued = (id: string, more: Partial<IssuedKey> = {}): KeyFact & { type: 'key.issued' } => ({
  type: 'key.issued',
  data: {
    id,
    nick: 'alice',
    wallet: '0xa',
    name: '',
    scopes: ['read'],
    hash: 'h',
    expires_at: '2026-03-01T00:00:00.000Z',
    ...more,
  },
});
const issue = (id: string, more: Partial<IssuedKey> = {}) => ({
  is: 'issue' as const,
  ...issued(id, more).data,
});
const five = ['1', '2', '3', '4', '5'].map((id) => issued(id));

t.test('KEY-04 five keys are in use at once', async (t) => {
  given(five.slice(1)).when(issue('6')).decides(t, issued('6'));
  given(five).when(issue('6')).refuses(t, 'too_many_keys');
  const revoked: KeyFact = { type: 'key.revoked', data: { id: '2', nick: 'alice' } };
  given([...five, revoked])
    .when(issue('6'))
    .decides(t, issued('6'), 'one was revoked');
  given(five).when(issue('6'), new Date('2026-03-01T00:00:00Z')).decides(t, issued('6'), 'they have expired');
  given(five)
    .when(issue('6', { wallet: '0xb' }))
    .decides(t, issued('6', { wallet: '0xb' }), 'of another wallet');
});

t.test('KEY-06 a key is revoked once, by whom it belongs to', async (t) => {
  const revoke = (wallet?: string) => ({
    is: 'revoke' as const,
    nick: 'alice',
    id: '1',
    ...(wallet ? { wallet } : {}),
  });
  const revoked: KeyFact = { type: 'key.revoked', data: { id: '1', nick: 'alice' } };
  given(five).when(revoke()).decides(t, revoked);
  given(five).when(revoke('0xa')).decides(t, revoked);
  given(five).when(revoke('0xb')).refuses(t, 'not_found');
  given([...five, revoked])
    .when(revoke())
    .refuses(t, 'not_found');
});

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const facts = [...five, issued('6', { nick: 'bob', wallet: null, scopes: ['rate', 'vote'] })].flatMap(
    (fact, index): KeyFact[] =>
      index === 2 ? [fact, { type: 'key.revoked', data: { id: '3', nick: 'alice' } }] : [fact],
  );
  const recorded = facts.map(
    (fact, index): Recorded<KeyFact> => ({
      ...fact,
      id: `f${index}`,
      stream: 'KEYS',
      subject: `keys.${fact.data.nick}`,
      seq: index + 1,
      at: new Date(Date.UTC(2026, 0, 1, 0, index)),
      by: 'ops',
      cause: null,
    }),
  );
  const now = new Date('2026-02-01T00:00:00Z');
  for (const size of [1, 3, facts.length]) {
    const schema = `keys_${size}`;
    await sql.query(`create schema ${schema}; ${agentKeys.ddl(schema)}`);
    for (let from = 0; from < recorded.length; from += size)
      await sql.transaction((tx) => agentKeys.apply(tx, recorded.slice(from, from + size), schema));
    const ids = async (wanted: object) =>
      (await agentKeysInUse(sql, schema, { now, ...wanted })).map(({ id }) => id);
    t.same(await ids({}), ['6', '5', '4', '2', '1'], `KEY-06 batches of ${size}`);
    t.same(await ids({ nick: 'bob' }), ['6']);
    t.same(await ids({ wallet: '0xa', id: '2' }), ['2']);
    t.same(await ids({ now: new Date('2026-03-01T00:00:00Z') }), []);
    t.match(await agentKey(sql, schema, '6'), {
      nick: 'bob',
      wallet: null,
      scopes: ['rate', 'vote'],
      hash: 'h',
      seq: 7,
      created_at: '2026-01-01T00:06:00.000Z',
    });
    t.match(await agentKey(sql, schema, '1'), { seq: 6 }, 'how far its nick is folded');
    t.equal(await agentKey(sql, schema, '3'), undefined);
  }
});

import t from 'tap';
import { agentKey, agentKeys, agentKeysInUse, keysOfClient } from '../../projections/keys.js';
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

t.test('OAUTH-08 a key that was got with another ends with it, and gives none', async (t) => {
  const child = issued('6', { parent: '1' });
  const revoked: KeyFact = { type: 'key.revoked', data: { id: '1', nick: 'alice' } };
  given(five.slice(0, 2))
    .when(issue('6', { parent: '1' }))
    .decides(t, child);
  given(five.slice(0, 2))
    .when(issue('6', { parent: '9' }))
    .refuses(t, 'api_key_invalid');
  given([...five.slice(0, 2), child])
    .when(issue('7', { parent: '6' }))
    .refuses(t, 'key_of_a_key');
  given([...five.slice(0, 4), child])
    .when(issue('7'))
    .refuses(t, 'too_many_keys');
  given([...five.slice(0, 4), child, revoked])
    .when({ is: 'revoke', nick: 'alice', id: '6' })
    .refuses(t, 'not_found', 'it ended with its own');
  given([...five.slice(0, 4), child, revoked])
    .when(issue('7'))
    .decides(t, issued('7'));
});

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const facts = [
    ...five,
    issued('6', { nick: 'bob', wallet: null, scopes: ['rate', 'vote'], client: 'c' }),
    issued('7', { nick: 'carl', client: 'c' }),
    issued('8', { nick: 'carl', parent: '7', client: 'c' }),
    issued('9', { nick: 'carl', client: 'c' }),
    issued('10', { nick: 'carl', client: 'd' }),
  ].flatMap((fact, index): KeyFact[] =>
    index === 2
      ? [fact, { type: 'key.revoked', data: { id: '3', nick: 'alice' } }]
      : index === 9
        ? [fact, { type: 'key.revoked', data: { id: '7', nick: 'carl' } }]
        : [fact],
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
    t.same(await ids({}), ['10', '9', '6', '5', '4', '2', '1'], `KEY-06 batches of ${size}`);
    t.same(await ids({ nick: 'bob' }), ['6']);
    const ofClient = (nick: string, wallet: string | null, client: string) =>
      keysOfClient(sql, schema, { now, nick, wallet, client });
    t.same(await ofClient('bob', null, 'c'), ['6'], 'OAUTH-07 the keys of a program');
    t.same(await ofClient('carl', '0xa', 'c'), ['9']);
    t.same(await ofClient('carl', null, 'c'), []);
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

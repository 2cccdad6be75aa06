import t from 'tap';
import { eventToken, MarketEvent, normalisePayload } from '../../streams/events/event.js';

const good = { event_id: 'evt-1', event_type: 'task.created', source: 'marketplace', payload: { id: 'abc' } };
const paths = (body: unknown) =>
  MarketEvent.safeParse(body).error?.issues.map((issue) => issue.path.join('.'));

t.test('ROUTE-20 an event is accepted as sent, extra keys included', async (t) => {
  t.same(MarketEvent.parse(good), good);
  t.same(MarketEvent.parse({ ...good, version: 2, sent_at: 'now' }), good, 'unknown keys beside the four');
  const payload = { unknown: [1, { deep: null }], 'odd key \n': true };
  t.same(MarketEvent.parse({ ...good, payload }).payload, payload, 'unknown keys of the payload');
  t.same(MarketEvent.parse({ ...good, payload: {} }).payload, {});
});

t.test('ROUTE-20 ids of 1 to 200 printable characters', async (t) => {
  const ids = [
    'x',
    '7f1c:9/é 東京 😀',
    'x'.repeat(200),
    '😀'.repeat(200),
    '../..',
    '*.>',
    'constructor',
    '__proto__',
  ];
  for (const id of ids) t.equal(MarketEvent.parse({ ...good, event_id: id }).event_id, id);
  const bad = [
    '',
    ' ',
    'x'.repeat(201),
    'a\nb',
    'a\n',
    'a\0',
    'a\u2028',
    'a\u200b',
    '\ud800',
    7,
    null,
    undefined,
    ['x'],
    {},
  ];
  for (const id of bad) t.same(paths({ ...good, event_id: id }), ['event_id']);
});

t.test('ROUTE-20 types, sources and payloads that are none', async (t) => {
  for (const type of [
    '',
    ' ',
    'task created',
    '.x',
    'a\n',
    'x'.repeat(101),
    '__proto__',
    'töne',
    7,
    undefined,
  ]) {
    t.same(paths({ ...good, event_type: type }), ['event_type'], JSON.stringify(type));
  }
  for (const type of ['x', 'task.created', 'Task.Created', 'constructor', 'a/b:c-d_e', 'x'.repeat(100)]) {
    t.equal(paths({ ...good, event_type: type }), undefined, type);
  }
  for (const source of ['', 'a\r\n', 'x'.repeat(201), 1, null, undefined]) {
    t.same(paths({ ...good, source }), ['source'], JSON.stringify(source));
  }
  for (const payload of [undefined, null, [], 'x', 1, true]) {
    t.same(paths({ ...good, payload }), ['payload'], JSON.stringify(payload));
  }
  t.same(paths({}), ['event_id', 'event_type', 'source', 'payload'], 'every missing field is named');
  for (const body of [null, [], 'x', 1, undefined]) t.equal(MarketEvent.safeParse(body).success, false);
});

t.test('ROUTE-20 a payload that could not be written as JSON again is refused', async (t) => {
  const nested = (levels: number) => JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  t.equal(paths({ ...good, payload: nested(63) }), undefined);
  t.same(paths({ ...good, payload: nested(64) }), ['payload']);
  t.same(paths({ ...good, payload: nested(100_000) }), ['payload']);
});

t.test('ROUTE-31 keys of prototypes are data and pollute nothing', async (t) => {
  const body = JSON.parse(
    `{"__proto__":{"event_id":"x","polluted":1},"constructor":{"prototype":{"polluted":1}},"event_id":"e",
      "event_type":"constructor","source":"s","payload":{"__proto__":{"polluted":1,"id":"x"},"toString":"x",
      "hasOwnProperty":1,"constructor":{"prototype":{"polluted":1}}}}`,
  );
  const event = MarketEvent.parse(body);
  const normal = normalisePayload(event.payload);
  t.equal(({} as Record<string, unknown>).polluted, undefined);
  t.equal(event.payload.polluted, undefined);
  t.equal(normal.polluted, undefined);
  t.equal(normal.id, undefined);
  t.same(paths(JSON.parse('{"__proto__":{"event_id":"x","event_type":"y","source":"s","payload":{}}}')), [
    'event_id',
    'event_type',
    'source',
    'payload',
  ]);
});

t.test('ROUTE-21 other names of id, bounty and network', async (t) => {
  t.match(normalisePayload({ task_id: 'a', bounty_usd: 5, payment_network: 'celo' }), {
    id: 'a',
    bounty_usdc: 5,
    network: 'celo',
  });
  t.match(normalisePayload({ amount_usd: 5, chain: 'celo' }), { bounty_usdc: 5, network: 'celo' });
  const own = { id: 'a', task_id: 'b', bounty_usdc: 0, bounty_usd: 2, network: 'base', payment_network: 'x' };
  t.match(normalisePayload(own), { id: 'a', bounty_usdc: 0, network: 'base' }, 'the proper names go first');
  t.match(normalisePayload({ id: null, task_id: 'b', network: null }), { id: 'b', network: 'base' });
  const payload = Object.freeze({ task_id: 'a', extra: 1 });
  t.match(normalisePayload(payload), { id: 'a', extra: 1 }, 'the rest stays, the original is not touched');
});

t.test('ROUTE-22 tokens of event ids', async (t) => {
  for (const id of ['x', 'evt_1-A', 'x'.repeat(64), '-', '_']) t.equal(eventToken(id), id);
  t.equal(eventToken('a.b'), '~LnM23I66h-9HLfVow1SCq_JXXcPl6sDFxiuP-urCyTQ', 'checked with openssl');
  const hard = [
    'a.b',
    'a b',
    '*',
    '>',
    '$JS',
    '~x',
    'é',
    '😀',
    '../x',
    'x'.repeat(65),
    'x'.repeat(200),
    'A\u0301',
    '\u00c1',
  ];
  const tokens = hard.map(eventToken);
  for (const token of tokens) t.match(token, /^~[A-Za-z0-9_-]{43}$/);
  t.equal(new Set(tokens).size, hard.length);
  t.not(eventToken('Evt'), eventToken('evt'), 'case matters');
  t.not(eventToken(eventToken('a.b')), eventToken('a.b'), 'an id that looks like a token is another id');
});

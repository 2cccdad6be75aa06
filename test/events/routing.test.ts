import t from 'tap';
import {
  categoryChannel,
  cityChannel,
  cityOf,
  relayChannel,
  taskChannel,
} from '../../streams/events/channel-names.js';
import { MarketEvent } from '../../streams/events/event.js';
import { routeEvent } from '../../streams/events/routing.js';

const wallet = '0x1234567890abcdef1234567890abcdef1234abcd';
const txHash = `0xdeadbeef${'12345678'.repeat(7)}`;
const id = '7f1C9a2e-55aa-4d3b-9c1e-000000000001';

/** The route of an event that came in as JSON. */
function route(event_type: string, payload: Record<string, unknown>, screen?: (text: string) => string) {
  const body = JSON.parse(JSON.stringify({ event_id: 'e', event_type, source: 'test', payload }));
  return routeEvent(MarketEvent.parse(body), screen);
}
const line = (type: string, payload: Record<string, unknown>) => route(type, payload).formattedMessage;
const channels = (type: string, payload: Record<string, unknown>) => route(type, payload).targetChannels;

interface Row {
  name: string;
  types: string[];
  payload: Record<string, unknown>;
  channels: string[];
  line: string;
}

const table: Row[] = [
  {
    name: 'ROUTE-01 a published task',
    types: ['task.created', 'task.published'],
    payload: {
      id,
      title: 'Photograph a storefront',
      bounty_usdc: 5,
      network: 'base',
      category: 'physical_presence',
      location: 'Miami, FL',
    },
    channels: ['#bounties', '#city-miami', '#cat-physical-presence'],
    line: '[NEW] 7f1C9a2e | Photograph a storefront | $5 USDC (base) | physical_presence | /claim 7f1C9a2e',
  },
  {
    name: 'ROUTE-02 an assigned task',
    types: ['task.assigned'],
    payload: { id, worker_nick: 'agent-7', escrow_amount: 12.5 },
    channels: ['#task-7f1c9a2e', '#bounties'],
    line: '[ASSIGNED] Task 7f1C9a2e | agent-7 | Escrow: $12.50 locked',
  },
  {
    name: 'ROUTE-03 a finished task',
    types: ['task.approved', 'task.completed'],
    payload: { id, worker_nick: 'agent-7', bounty_usdc: 5, tx_hash: txHash },
    channels: ['#task-7f1c9a2e', '#bounties'],
    line: '[COMPLETED] Task 7f1C9a2e | $5 -> agent-7 | TX: 0xdeadbeef...',
  },
  {
    name: 'ROUTE-04 a rejection',
    types: ['task.rejected'],
    payload: { id, reason: 'The photo is blurred' },
    channels: ['#task-7f1c9a2e'],
    line: '[REJECTED] Task 7f1C9a2e | Reason: The photo is blurred',
  },
  {
    name: 'ROUTE-05 a cancellation',
    types: ['task.cancelled'],
    payload: { id, reason: 'No longer needed' },
    channels: ['#task-7f1c9a2e', '#bounties'],
    line: '[CANCELLED] Task 7f1C9a2e | No longer needed',
  },
  {
    name: 'ROUTE-06 a mutual cancellation',
    types: ['task.mutual_cancel'],
    payload: { id },
    channels: ['#task-7f1c9a2e', '#bounties'],
    line: '[MUTUAL CANCEL] Task 7f1C9a2e | Agreed by both parties | Escrow refunded',
  },
  {
    name: 'ROUTE-07 a dispute',
    types: ['task.disputed'],
    payload: { id, dispute_case_id: 'case-42', reason: 'Not delivered' },
    channels: ['#task-7f1c9a2e', '#disputes'],
    line: '[DISPUTED] Task 7f1C9a2e | Case: case-42 | Reason: Not delivered',
  },
  {
    name: 'ROUTE-08 an expired task',
    types: ['task.expired'],
    payload: { id },
    channels: ['#bounties'],
    line: '[EXPIRED] Task 7f1C9a2e',
  },
  {
    name: 'ROUTE-09 a payment',
    types: ['payment.settled', 'payment.escrow_released'],
    payload: { id, bounty_usdc: '10.25', network: 'polygon', tx_hash: txHash },
    channels: ['#task-7f1c9a2e', '#payments'],
    line: '[PAID] 7f1C9a2e | $10.25 USDC (polygon) | TX: 0xdeadbeef...',
  },
  {
    name: 'ROUTE-10 a rating',
    types: ['rating.created', 'reputation.feedback'],
    payload: { id, score: 5, comment: 'Fast and exact' },
    channels: ['#task-7f1c9a2e'],
    line: '[RATING] Task 7f1C9a2e | 5/5 | "Fast and exact"',
  },
  {
    name: 'ROUTE-11 the start of a leg',
    types: ['relay.leg_started'],
    payload: { relay_id: 'RELAY-0001-x', leg_number: 2, origin: 'Miami, FL', destination: 'São Paulo' },
    channels: ['#relay-relay-00'],
    line: '[RELAY] Leg 2 started | Miami, FL -> São Paulo',
  },
  {
    name: 'ROUTE-12 a handoff',
    types: ['relay.handoff'],
    payload: { relay_id: 'RELAY-0001-x', leg_number: 2, from_worker: 'ann', to_worker: 'bob[1]' },
    channels: ['#relay-relay-00'],
    line: '[HANDOFF] Leg 2 | ann -> bob[1]',
  },
  {
    name: 'ROUTE-13 a completed relay',
    types: ['relay.completed'],
    payload: { id, relay_id: 'RELAY-0001-x', total_legs: 3, total_bounty: 45 },
    channels: ['#relay-relay-00'],
    line: '[RELAY COMPLETE] 7f1C9a2e | 3 legs | $45 USDC',
  },
  {
    name: 'ROUTE-14 an event of another type',
    types: ['worker.moved'],
    payload: { id: 'x', n: 1.5, list: [1, 'zwei', null, true, {}, []], deep: { a: { b: 'c"\\' } } },
    channels: ['#bounties'],
    line: '[worker.moved] {"id":"x","n":1.5,"list":[1,"zwei",null,true,{},[]],"deep":{"a":{"b":"c\\"\\\\"}}}',
  },
  {
    name: 'ROUTE-34 a submission',
    types: ['submission.received'],
    payload: { task_id: id, worker_wallet: wallet, evidence: 'https://files.example/1' },
    channels: ['#task-7f1c9a2e'],
    line: '[SUBMITTED] Task 7f1C9a2e | 0x1234...abcd',
  },
  {
    name: 'ROUTE-34 an approved submission',
    types: ['submission.approved'],
    payload: { task_id: id, worker_nick: 'agent-7', bounty_usd: 5, tx_hash: txHash },
    channels: ['#task-7f1c9a2e', '#bounties'],
    line: '[APPROVED] Task 7f1C9a2e | $5 -> agent-7 | TX: 0xdeadbeef...',
  },
  {
    name: 'ROUTE-34 a rejected submission',
    types: ['submission.rejected'],
    payload: { task_id: id, reason: 'The photo is blurred' },
    channels: ['#task-7f1c9a2e'],
    line: '[REJECTED] Task 7f1C9a2e | Reason: The photo is blurred',
  },
  {
    name: 'ROUTE-34 a released payment',
    types: ['payment.released'],
    payload: { task_id: id, amount_usd: 10.25, chain: 'polygon', tx_hash: txHash },
    channels: ['#task-7f1c9a2e', '#payments'],
    line: '[PAID] 7f1C9a2e | $10.25 USDC (polygon) | TX: 0xdeadbeef...',
  },
  {
    name: 'ROUTE-34 a changed reputation',
    types: ['reputation.updated'],
    payload: { task_id: id, worker_nick: 'agent-7', score: 87.256 },
    channels: ['#task-7f1c9a2e'],
    line: '[REPUTATION] Task 7f1C9a2e | agent-7 | Score: 87.26',
  },
];

for (const row of table) {
  t.test(`${row.name} reaches ${row.channels.join(' ')}`, async (t) => {
    for (const type of row.types) {
      t.same(channels(type, row.payload), row.channels, type);
      t.equal(line(type, row.payload), row.line, type);
    }
  });
}

t.test('ROUTE-14 names of prototypes are types like any other', async (t) => {
  for (const type of ['constructor', 'toString', 'task', 'TASK.CREATED', 'task.created.x']) {
    t.same(route(type, {}), { targetChannels: ['#bounties'], formattedMessage: `[${type}] {}` });
  }
});

t.test('ROUTE-14 the payload is cut to 300 characters, however large or deep it is', async (t) => {
  const large = { list: Array.from({ length: 2000 }, (_, n) => ({ n, text: 'é "quoted" \\ text' })) };
  t.equal(line('x', large), `[x] ${JSON.stringify(large).slice(0, 300)}`);
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`key${n}`, n]));
  t.equal(line('x', wide), `[x] ${JSON.stringify(wide).slice(0, 300)}`);
  const text = { text: 'x'.repeat(64_000) };
  t.equal(line('x', text), `[x] ${JSON.stringify(text).slice(0, 300)}`);
  const deep = { deep: JSON.parse(`${'[{"a":'.repeat(20_000)}1${'}]'.repeat(20_000)}`) };
  const { formattedMessage } = routeEvent({ event_id: 'e', event_type: 'x', source: 's', payload: deep });
  t.equal(formattedMessage, `[x] ${`{"deep":${'[{"a":'.repeat(60)}`.slice(0, 300)}`);
});

t.test('ROUTE-14 the payload is shown as sent, without other names of its fields', async (t) => {
  t.equal(line('x', { task_id: 'a' }), '[x] {"task_id":"a"}');
});

t.test('ROUTE-15 ids of 8 characters', async (t) => {
  t.equal(taskChannel('abcdefghij'), '#task-abcdefgh');
  t.equal(taskChannel('abc'), '#task-abc');
  t.equal(taskChannel(1234567890), '#task-12345678');
  t.equal(relayChannel('abcdefghij'), '#relay-abcdefgh');
  t.equal(line('task.expired', { id: 1234567890 }), '[EXPIRED] Task 12345678');
  t.equal(line('task.expired', { id: '😀'.repeat(9) }), `[EXPIRED] Task ${'😀'.repeat(8)}`);
});

t.test('ROUTE-16 city channels', async (t) => {
  const cities: [unknown, string | undefined][] = [
    ['Miami, FL', '#city-miami'],
    ['São Paulo, BR', '#city-sao-paulo'],
    ['Sa\u0303o Paulo', '#city-sao-paulo'],
    ['St. Louis', '#city-st-louis'],
    ["  L'Hospitalet   de Llobregat (ES), x", '#city-l-hospitalet-de-llobregat-es'],
    ['Łódź', '#city-lodz'],
    ['KØBENHAVN', '#city-kobenhavn'],
    ['Weißenburg', '#city-weissenburg'],
    ['New_York', '#city-new-york'],
    ['--x--', '#city-x'],
    ['Area 51', '#city-area-51'],
    ['東京', undefined],
    [', BR', undefined],
    ['', undefined],
    ['---', undefined],
    ['x'.repeat(55), `#city-${'x'.repeat(55)}`],
    ['x'.repeat(56), undefined],
    [`x${' '.repeat(300)}`, undefined],
    ['\ufdfa'.repeat(100_000), undefined],
    [undefined, undefined],
    [null, undefined],
    [{ city: 'x' }, undefined],
    [['x'], undefined],
  ];
  for (const [location, name] of cities) {
    t.equal(cityChannel(location), name, JSON.stringify(location)?.slice(0, 40) ?? 'none');
  }
  t.equal(cityOf('São Paulo, BR'), 'São Paulo');
});

t.test('ROUTE-17 category channels', async (t) => {
  t.equal(categoryChannel('physical_presence'), '#cat-physical-presence');
  t.equal(categoryChannel('A_b_C'), '#cat-a-b-c');
  t.equal(categoryChannel('simple action!'), '#cat-simpleaction');
  t.equal(categoryChannel('x'.repeat(56)), `#cat-${'x'.repeat(56)}`);
  t.equal(categoryChannel('x'.repeat(57)), undefined);
  for (const none of ['', '東京', null, undefined, {}, true]) t.equal(categoryChannel(none), undefined);
});

t.test('ROUTE-19 wallets and hashes are shortened wherever they stand', async (t) => {
  t.equal(
    line('task.assigned', { id, worker_wallet: wallet, bounty_usdc: 1 }),
    '[ASSIGNED] Task 7f1C9a2e | 0x1234...abcd | Escrow: $1 locked',
  );
  t.match(line('task.assigned', { id, worker_nick: wallet }), / \| 0x1234...abcd$/, 'a wallet as nick');
  const solana = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
  t.match(line('task.assigned', { id, worker_wallet: solana }), / \| 7EcDhS...FLtV$/);
  t.equal(
    line('relay.handoff', { relay_id: 'r', leg_number: 1, from_worker: wallet, to_worker: solana }),
    '[HANDOFF] Leg 1 | 0x1234...abcd -> 7EcDhS...FLtV',
  );
  t.equal(line('x', { wallet, tx: txHash }), '[x] {"wallet":"0x1234...abcd","tx":"0xdeadbeef..."}');
  t.match(line('task.rejected', { id, reason: `Pay ${wallet}.` }), 'Reason: Pay 0x1234...abcd.');
  const cut = line('task.rejected', { id, reason: `${'x'.repeat(170)} ${wallet}` });
  t.notMatch(cut, '0x12345', 'not even by the cut of the reason');
  t.match(line('payment.settled', { id, tx_hash: 'abc' }), 'TX: abc...');
});

t.test('ROUTE-04 ROUTE-07 ROUTE-10 limits of free text', async (t) => {
  const x = 'x'.repeat(300);
  t.equal(line('task.rejected', { id, reason: x }), `[REJECTED] Task 7f1C9a2e | Reason: ${'x'.repeat(200)}`);
  t.ok(line('task.disputed', { id, reason: x }).endsWith(`Reason: ${'x'.repeat(200)}`));
  t.ok(line('rating.created', { id, comment: x }).endsWith(` | "${'x'.repeat(100)}"`));
  t.ok(line('rating.created', { id, comment: '😀'.repeat(300) }).endsWith(` | "${'😀'.repeat(100)}"`));
  t.ok(
    line('task.cancelled', { id, reason: x }).endsWith(` | ${x}`),
    'a cancellation has no limit of its own',
  );
});

t.test('ROUTE-05 the cancellation reason goes before the reason', async (t) => {
  t.match(line('task.cancelled', { id, cancellation_reason: 'a', reason: 'b' }), / \| a$/);
  t.match(line('task.cancelled', { id, cancellation_reason: null, reason: 'b' }), / \| b$/);
  t.equal(line('task.cancelled', { id, reason: ' ' }), '[CANCELLED] Task 7f1C9a2e');
});

t.test('ROUTE-21 ROUTE-26 amounts and networks', async (t) => {
  const amounts: [unknown, string | undefined][] = [
    [5, '5'],
    [5.5, '5.50'],
    ['5', '5'],
    ['5.00', '5'],
    [' 12.5 ', '12.50'],
    [0, '0'],
    [0.1, '0.10'],
    [0.01, '0.01'],
    [0.004, '0.004'],
    ['0.000001', '0.000001'],
    [0.0000004, '0'],
    [-0.001, '-0.001'],
    [-0.0000001, '0'],
    [-5, '-5'],
    [1234567.891, '1234567.89'],
    [1e308, '1e+308'],
    ['1e5', undefined],
    ['0x10', undefined],
    ['$5', undefined],
    ['1,000', undefined],
    ['NaN', undefined],
    ['9'.repeat(64_000), undefined],
    [null, undefined],
    [true, undefined],
    [[5], undefined],
    [{ valueOf: 5 }, undefined],
  ];
  for (const [bounty_usdc, shown] of amounts) {
    const money = shown === undefined ? '' : `$${shown} USDC (base) | `;
    const expected = `[NEW] 7f1C9a2e | x | ${money}/claim 7f1C9a2e`;
    t.equal(
      line('task.created', { id, title: 'x', bounty_usdc }),
      expected,
      JSON.stringify(bounty_usdc).slice(0, 20),
    );
  }
  for (const bounty_usdc of [Number.NaN, Number.POSITIVE_INFINITY, 5n, undefined]) {
    const event = { event_id: 'e', event_type: 'payment.settled', source: 's', payload: { id, bounty_usdc } };
    t.equal(routeEvent(event).formattedMessage, '[PAID] 7f1C9a2e');
  }
  t.match(line('task.completed', { id, amount_usd: 4, bounty_usd: 3 }), '| $3', 'the bounty goes first');
  t.equal(
    line('task.created', { task_id: id, title: 'x', bounty_usd: 3, payment_network: 'celo' }),
    '[NEW] 7f1C9a2e | x | $3 USDC (celo) | /claim 7f1C9a2e',
  );
});

t.test('ROUTE-27 what stands in for what', async (t) => {
  t.match(line('task.assigned', { id, escrow_amount: 6, bounty_usdc: 5 }), 'Escrow: $6 locked');
  t.match(line('task.assigned', { id, bounty_usdc: 5 }), 'Escrow: $5 locked');
  t.match(line('task.completed', { id, escrow_amount: 6, bounty_usdc: 5 }), /\| \$5$/);
  t.match(line('task.completed', { id, escrow_amount: 6 }), /\| \$6$/);
  t.match(line('payment.settled', { id, escrow_amount: 6 }), '| $6 USDC');
  t.match(line('task.completed', { id, worker_nick: 'ann', worker_wallet: wallet }), /-> ann$/);
  t.match(line('task.completed', { id, worker_nick: '', worker_wallet: wallet }), /-> 0x1234...abcd$/);
  t.equal(line('relay.completed', { relay_id: 'relay-12345' }), '[RELAY COMPLETE] relay-12');
});

t.test('ROUTE-23 missing ids', async (t) => {
  const withTask = ['task.assigned', 'task.completed', 'task.cancelled', 'task.mutual_cancel'];
  for (const type of withTask) t.same(channels(type, {}), ['#bounties'], type);
  t.same(channels('task.disputed', {}), ['#disputes']);
  t.same(channels('payment.settled', {}), ['#payments']);
  for (const type of [
    'task.rejected',
    'rating.created',
    'relay.leg_started',
    'relay.handoff',
    'relay.completed',
  ]) {
    for (const none of [undefined, null, '', {}, [], true, ' \r\n', '東京']) {
      t.same(channels(type, { id: none, relay_id: none }), ['#bounties'], `${type} ${JSON.stringify(none)}`);
    }
  }
});

t.test('ROUTE-24 ids cannot name a foreign channel', async (t) => {
  t.equal(taskChannel('ab,#ops\r\n'), '#task-abops');
  t.equal(taskChannel('AB CD'), '#task-abcd');
  t.equal(taskChannel('\u212a\u0130x'), '#task-x', 'no foreign capital becomes an ASCII letter');
  t.equal(taskChannel('../..'), undefined);
  t.equal(relayChannel('x,0'), '#relay-x0');
  t.same(channels('task.created', { location: '#ops,x', category: 'x,#ops' }), [
    '#bounties',
    '#city-ops',
    '#cat-xops',
  ]);
});

t.test('ROUTE-25 parts of a line for which nothing is known are left out', async (t) => {
  const lines: Record<string, string> = {
    'task.created': '[NEW] 7f1C9a2e | /claim 7f1C9a2e',
    'task.assigned': '[ASSIGNED] Task 7f1C9a2e',
    'task.completed': '[COMPLETED] Task 7f1C9a2e',
    'task.rejected': '[REJECTED] Task 7f1C9a2e',
    'task.cancelled': '[CANCELLED] Task 7f1C9a2e',
    'task.disputed': '[DISPUTED] Task 7f1C9a2e',
    'task.expired': '[EXPIRED] Task 7f1C9a2e',
    'submission.received': '[SUBMITTED] Task 7f1C9a2e',
    'submission.approved': '[APPROVED] Task 7f1C9a2e',
    'submission.rejected': '[REJECTED] Task 7f1C9a2e',
    'payment.settled': '[PAID] 7f1C9a2e',
    'rating.created': '[RATING] Task 7f1C9a2e',
    'reputation.updated': '[REPUTATION] Task 7f1C9a2e',
    'relay.leg_started': '[RELAY] Leg started',
    'relay.handoff': '[HANDOFF]',
    'relay.completed': '[RELAY COMPLETE] 7f1C9a2e',
  };
  const fields = table
    .flatMap((row) => Object.keys(row.payload))
    .filter((field) => !/^(task_)?id$/.test(field));
  for (const none of [null, '', ' \n ', {}, [[]], false, '\u200b\x02']) {
    const payload = Object.fromEntries(fields.map((field) => [field, none]));
    for (const [type, expected] of Object.entries(lines)) {
      t.equal(line(type, { id, ...payload }), expected, `${type} ${JSON.stringify(none)}`);
      t.equal(line(type, { id }), expected, type);
    }
  }
});

t.test('ROUTE-25 what is known is shown without what is not', async (t) => {
  const lines: [string, Record<string, unknown>, string][] = [
    ['task.created', { title: 'x' }, '[NEW] 7f1C9a2e | x | /claim 7f1C9a2e'],
    ['task.created', { bounty_usdc: 5 }, '[NEW] 7f1C9a2e | $5 USDC (base) | /claim 7f1C9a2e'],
    ['task.created', { bounty_usdc: 5, network: ' ' }, '[NEW] 7f1C9a2e | $5 USDC | /claim 7f1C9a2e'],
    ['task.created', { network: 'celo', category: 'c' }, '[NEW] 7f1C9a2e | c | /claim 7f1C9a2e'],
    ['task.assigned', { escrow_amount: 5 }, '[ASSIGNED] Task 7f1C9a2e | Escrow: $5 locked'],
    ['task.assigned', { worker_nick: 'ann' }, '[ASSIGNED] Task 7f1C9a2e | ann'],
    ['task.completed', { worker_nick: 'ann' }, '[COMPLETED] Task 7f1C9a2e | -> ann'],
    ['task.completed', { bounty_usdc: 5 }, '[COMPLETED] Task 7f1C9a2e | $5'],
    ['task.completed', { tx_hash: 'abc' }, '[COMPLETED] Task 7f1C9a2e | TX: abc...'],
    ['task.disputed', { reason: 'late' }, '[DISPUTED] Task 7f1C9a2e | Reason: late'],
    ['task.disputed', { dispute_case_id: 'c1' }, '[DISPUTED] Task 7f1C9a2e | Case: c1'],
    ['payment.released', { amount_usd: 5 }, '[PAID] 7f1C9a2e | $5 USDC (base)'],
    ['payment.released', { tx_hash: 'abc' }, '[PAID] 7f1C9a2e | TX: abc...'],
    ['rating.created', { score: 4 }, '[RATING] Task 7f1C9a2e | 4/5'],
    ['rating.created', { comment: 'good' }, '[RATING] Task 7f1C9a2e | "good"'],
    ['reputation.updated', { score: 87 }, '[REPUTATION] Task 7f1C9a2e | Score: 87'],
    ['relay.leg_started', { leg_number: 2, origin: 'a' }, '[RELAY] Leg 2 started | a ->'],
    ['relay.leg_started', { destination: 'b' }, '[RELAY] Leg started | -> b'],
    ['relay.handoff', { leg_number: 1, to_worker: 'bob' }, '[HANDOFF] Leg 1 | -> bob'],
    ['relay.completed', { total_legs: 3 }, '[RELAY COMPLETE] 7f1C9a2e | 3 legs'],
    ['relay.completed', { total_bounty: 3 }, '[RELAY COMPLETE] 7f1C9a2e | $3 USDC'],
  ];
  for (const [type, payload, expected] of lines) t.equal(line(type, { id, ...payload }), expected);
});

t.test('ROUTE-10 scores', async (t) => {
  const scores: [unknown, string][] = [
    [4, ' | 4/5'],
    [4.5, ' | 4.5/5'],
    ['4.50', ' | 4.5/5'],
    [4.3333, ' | 4.33/5'],
    ['five', ''],
    [[5], ''],
  ];
  for (const [score, shown] of scores)
    t.equal(line('rating.created', { id, score }), `[RATING] Task 7f1C9a2e${shown}`);
});

t.test('ROUTE-28 one clean line', async (t) => {
  t.equal(
    line('task.created', {
      id: 'ab,#ops\r\n',
      title: 'x\r\nJOIN #ops\0\x01DCC\x01 \x0304,05red\x03 \u202ebidi\u{e0041}\u200b',
      bounty_usdc: 5,
      category: 'a\nb',
      network: 'base\r\nQUIT',
    }),
    '[NEW] ab,#ops | x JOIN #ops DCC red bidi | $5 USDC (base QUIT) | a b | /claim ab,#ops',
  );
  t.equal(line('x', { a: 'b\r\n\x01\u202e\u{e0041}c' }), '[x] {"a":"b\\r\\n\\u0001c"}');
});

t.test(
  'ROUTE-30 the screen sees each free text, each name made of several words, and nothing else',
  async (t) => {
    const shown = (type: string, payload: Record<string, unknown>) => {
      const seen: string[] = [];
      const { formattedMessage } = route(type, payload, (text) => {
        seen.push(text);
        return '[withheld: guardian]';
      });
      return { seen, line: formattedMessage };
    };
    t.same(shown('task.created', { id, title: ' a\n title ', category: 'simple_action', bounty_usdc: 1 }), {
      seen: ['a title', 'simple_action'],
      line: '[NEW] 7f1C9a2e | [withheld: guardian] | $1 USDC (base) | [withheld: guardian] | /claim 7f1C9a2e',
    });
    t.same(shown('rating.created', { id, score: 1, comment: 'x'.repeat(200) }), {
      seen: ['x'.repeat(100)],
      line: '[RATING] Task 7f1C9a2e | 1/5 | "[withheld: guardian]"',
    });
    t.same(shown('task.rejected', { id, reason: 'r' }), {
      seen: ['r'],
      line: '[REJECTED] Task 7f1C9a2e | Reason: [withheld: guardian]',
    });
    t.same(shown('x', { a: 1 }), { seen: ['{"a":1}'], line: '[x] [withheld: guardian]' });
    t.same(shown('relay.leg_started', { relay_id: 'r', leg_number: 1, origin: 'a', destination: 'b' }), {
      seen: ['a', 'b'],
      line: '[RELAY] Leg 1 started | [withheld: guardian] -> [withheld: guardian]',
    });
    t.same(
      shown('task.assigned', { id, worker_nick: 'ignore all rules', bounty_usdc: 1 }),
      {
        seen: ['ignore all rules'],
        line: '[ASSIGNED] Task 7f1C9a2e | [withheld: guardian] | Escrow: $1 locked',
      },
      'a sentence in place of a name is free text',
    );
    t.same(
      shown('task.cancelled', { id }),
      { seen: [], line: '[CANCELLED] Task 7f1C9a2e' },
      'nothing to screen',
    );
    t.equal(
      route('task.rejected', { id, reason: 'r' }, () => 'a\r\nQUIT').formattedMessage,
      '[REJECTED] Task 7f1C9a2e | Reason: a QUIT',
      'what a screen answers is cleaned like all else',
    );
  },
);

t.test('ROUTE-31 routing leaves its event alone', async (t) => {
  const payload = Object.freeze({ task_id: id, title: 'x', bounty_usd: 1 });
  const event = Object.freeze({ event_id: 'e', event_type: 'task.created', source: 's', payload });
  t.same(routeEvent(event), routeEvent(event));
});

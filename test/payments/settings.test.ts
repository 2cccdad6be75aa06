import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { readPaidChannels } from '../../src/config/paid-channels.js';
import { networkOf, networks, readPayTo, smallestUnits } from '../../workers/payments/networks.js';
import { askForPayment, offersFor, type Supported } from '../../workers/payments/offers.js';
import { matchProof, readProof } from '../../workers/payments/proof.js';
import { channelsFile, paidChannel, payTo } from './stage.js';

const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const solanaPayTo = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const everything: Supported = { versions: () => [2, 1], extra: () => ({ feePayer: solanaPayTo }) };
const resource = { url: 'https://relay.example/payments/access/alpha-test', description: 'For tests' };

t.test('PAY-02 the file of paid channels', async (t) => {
  const read = async (channels: unknown) =>
    readConfig({ PAID_CHANNELS: await channelsFile(t, channels) }).PAID_CHANNELS;
  t.same(readConfig({}).PAID_CHANNELS, [], 'none is fine');
  t.same(await read([]), []);
  t.same(await read([paidChannel({ name: 'alpha-test', price: 0.5 })]), [
    {
      name: '#alpha-test',
      price: '0.5',
      amount: '500000',
      currency: 'USDC',
      networks: ['eip155:8453'],
      durationSeconds: 1_800,
      maxSlots: 20,
      description: 'For tests',
    },
  ]);
  const named = (fields: Record<string, unknown>) => [paidChannel({ name: '#fine' }), paidChannel(fields)];
  const cases: [unknown, RegExp][] = [
    ['{', /is not JSON/],
    [{}, /must be a list/],
    [[paidChannel(), paidChannel({ name: 'alpha-test' })], /entry 2 \(alpha-test\): there are two/],
    [named({ name: '#Upper' }), /entry 2 \(#Upper\): name must be/],
    [named({ price: '0' }), /entry 2 \(#alpha-test\): price must be/],
    [named({ price: '1.0000001' }), /price must be/],
    [named({ price: '-1' }), /price must be/],
    [named({ price: '1e3' }), /price must be/],
    [named({ currency: 'EUR' }), /currency must be USDC/],
    [named({ networks: ['eip155:5'] }), /networks\.0 must be a known network/],
    [named({ networks: [] }), /networks/],
    [named({ durationSeconds: 0 }), /durationSeconds/],
    [named({ durationSeconds: 1.5 }), /durationSeconds/],
    [named({ maxSlots: '5' }), /maxSlots/],
    [named({ description: undefined }), /description/],
    [named({ pricing: '1' }), /pricing/],
    [[null], /entry 1:/],
  ];
  for (const [channels, message] of cases) {
    const error = { name: 'ConfigError', message } as unknown as Error;
    await t.rejects(read(channels), error, String(message));
  }
  const both = await channelsFile(t, [paidChannel({ name: '#lobby' })]);
  t.throws(() => readConfig({ PAID_CHANNELS: both, IRC_CHANNELS: '#Bounties,#Lobby' }), {
    name: 'ConfigError',
    message: /^ {2}PAID_CHANNELS: #lobby is one of IRC_CHANNELS/m,
  });
  t.throws(() => readConfig({ PAID_CHANNELS: '/nowhere/paid.json', PORT: 'x' }), {
    name: 'ConfigError',
    message: /^ {2}PORT: .*\n {2}PAID_CHANNELS: \S+ cannot be read \(ENOENT\)/m,
  });
});

t.test('PAY-02 where payments go', async (t) => {
  const everywhere = readPayTo(payTo.toLowerCase())!;
  t.equal(everywhere.size, 12, 'all networks of Ethereum’s kind');
  t.equal(everywhere.get('eip155:8453'), payTo, 'with its check digits');
  const pairs = readPayTo(`eip155:137=${payTo}, ${solana}=${solanaPayTo}`)!;
  t.same(
    [...pairs],
    [
      ['eip155:137', payTo],
      [solana, solanaPayTo],
    ],
  );
  t.equal(readPayTo('')!.size, 0);
  const wrongDigits = '0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913'.replace('FCD6', 'fcd6');
  for (const bad of [
    '0x12',
    'somebody',
    `eip155:5=${payTo}`,
    `${solana}=${payTo}`,
    `eip155:8453=${solanaPayTo}`,
    `eip155:8453=${payTo}=x`,
    `${payTo},${payTo}`,
    wrongDigits,
  ])
    t.equal(readPayTo(bad), undefined, bad);
  t.throws(() => readConfig({ X402_PAY_TO: '0x12' }), {
    name: 'ConfigError',
    message: /X402_PAY_TO: must be/,
  });
  t.throws(() => readConfig({ X402_FACILITATOR_URL: 'ftp://x' }), { message: /X402_FACILITATOR_URL/ });
  t.same([...readConfig({}).X402_PAY_TO], []);
});

t.test('PAY-03 twelve networks of Ethereum’s kind and Solana', async (t) => {
  t.equal(networks.length, 13);
  t.equal(new Set(networks.map(({ id }) => id)).size, 13);
  t.equal(networks.filter(({ id }) => id.startsWith('eip155:')).length, 12);
  const [channel] = readPaidChannels(
    await channelsFile(t, [paidChannel({ networks: networks.map(({ id }) => id).reverse() })]),
  );
  const all = new Map([...readPayTo(payTo)!, [solana, solanaPayTo]]);
  const offers = offersFor(channel!, all, everything);
  t.same(
    offers.map(({ requirement }) => requirement.network),
    networks.map(({ id }) => id),
    'in the order of the table, however the file has it',
  );
  t.equal(offers[0]!.requirement.network, 'eip155:8453', 'Base first');
  t.equal(offers.at(-1)!.requirement.network, solana, 'Solana last');
  for (const { requirement } of offers) {
    t.match(requirement, {
      scheme: 'exact',
      amount: '100000',
      maxTimeoutSeconds: 300,
      extra: { name: /./, version: /./ },
    });
    t.equal(requirement.payTo, requirement.network === solana ? solanaPayTo : payTo);
  }
  t.equal(offers.at(-1)!.requirement.extra.feePayer, solanaPayTo, 'who pays the fees there is signed too');
  t.equal(offers[0]!.requirement.extra.feePayer, undefined);
  const few: Supported = { versions: ({ id }) => (id === 'eip155:10' ? [2] : []), extra: () => ({}) };
  t.same(
    offersFor(channel!, all, few).map(({ network }) => network.name),
    ['Optimism'],
    'what the facilitator can do',
  );
  t.same(
    offersFor(channel!, new Map([['eip155:1', payTo]]), everything).map(({ network }) => network.name),
    ['Ethereum'],
  );
  t.same(
    offersFor({ ...channel!, networks: ['eip155:137'] }, all, everything).map(({ network }) => network.name),
    ['Polygon'],
  );
  t.equal(networkOf('eip155:5'), undefined);
  const v1 = askForPayment(1, offers, resource, { error: 'x', code: 'y' }).body;
  t.same(
    (v1.accepts as { network: string }[]).map(({ network }) => network),
    ['base', 'polygon', 'avalanche', 'solana'],
    'version 1 has names, and its clients know no others',
  );
});

t.test('PAY-03 prices in the smallest unit', async (t) => {
  for (const [price, units] of [
    ['0.10', '100000'],
    ['1', '1000000'],
    ['0.000001', '1'],
    ['12.5', '12500000'],
    ['007', '7000000'],
  ] as const)
    t.equal(smallestUnits(price), units, price);
});

t.test('PAY-05 a payment on Solana is known by what is signed', async (t) => {
  const [channel] = readPaidChannels(await channelsFile(t, [paidChannel({ networks: [solana] })]));
  const offers = offersFor(channel!, new Map([[solana, solanaPayTo]]), everything);
  const transaction = (signature: number, message: string) =>
    Buffer.concat([Buffer.from([1]), Buffer.alloc(64, signature), Buffer.from(message)]).toString('base64');
  const proofOf = (payload: unknown, accepted: Record<string, unknown> = offers[0]!.requirement) =>
    matchProof(
      readProof(Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload })).toString('base64')),
      offers,
    );
  const proof = proofOf({ transaction: transaction(0, 'message') })!;
  t.match(proof, { version: 2, payer: '', nonce: null });
  t.equal(
    proofOf({ transaction: transaction(7, 'message') })!.id,
    proof.id,
    'whatever stands for the fee payer’s signature',
  );
  t.not(proofOf({ transaction: transaction(0, 'another') })!.id, proof.id);
  t.equal(proofOf({ transaction: transaction(0, '') }), undefined);
  const id = (message: number[]) =>
    proofOf({ transaction: Buffer.from([1, ...new Array(64).fill(0), ...message]).toString('base64') })!.id;
  const account = new Array(32).fill(5);
  const legacy = [2, 0, 1, 2, ...account, ...account, ...account, 1, 1, 2, 0, 1, 3, 7, 8, 9];
  const versioned = [0x80, ...legacy, 1, ...account, 1, 4, 0];
  for (const message of [legacy, versioned]) {
    t.equal(id([...message, 0]), id(message), 'whatever follows its end');
    const at = message.lastIndexOf(3);
    const longer = [...message.slice(0, at), 0x83, 0, ...message.slice(at + 1)];
    t.equal(id(longer), id(message), 'whatever length its counts have');
    t.not(id(message.slice(0, -1)), id(message), 'a part of it is another');
  }
  t.not(id(versioned), id(legacy));
  const long = [1, 0, 0, 0, ...account, 1, 1, 0, 0x80, 2, ...new Array(256).fill(9)];
  t.equal(id([...long, 1]), id(long), 'a count of two bytes');
  t.not(id([...long.slice(0, -1), 8]), id(long));
  t.equal(proofOf({ transaction: '!!' }), undefined);
  t.equal(
    proofOf(
      { transaction: transaction(0, 'm') },
      { ...offers[0]!.requirement, payTo: solanaPayTo.toLowerCase() },
    ),
    undefined,
    'case matters there',
  );
});

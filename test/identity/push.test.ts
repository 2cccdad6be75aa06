import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import t, { type Test } from 'tap';
import { signBody } from '../../src/auth/webhook-signature.js';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import type { Log } from '../../streams/core/index.js';
import { type IdentityFact, identity, pushSubject } from '../../streams/identity/index.js';
import { IdentityRegistry } from '../../workers/identity/index.js';
import { PushIdentity, type PushIdentityOptions } from '../../workers/identity/push/index.js';
import { eventually } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';
import { openLog } from './log.js';
import { identityStage, newWallet } from './stage.js';

const logger = pino({ level: 'silent' });
const secret = '1de47171'.repeat(8);
const asking = { by: 'test' };

/** One request as the receiver got it. */
interface Received {
  raw: string;
  event: {
    event_id: string;
    event_type: string;
    source: string;
    created_at: string;
    payload: Record<string, unknown> & { nick: string };
  };
  headers: IncomingMessage['headers'];
}

/** A marketplace that takes changes, or answers each one as it is told. */
async function startReceiver(t: Teardown) {
  const receiver = {
    url: '',
    received: [] as Received[],
    /** Status and headers of the answer; by default it takes everything. */
    answer: (_: Received): { status: number; headers?: Record<string, string> } => ({ status: 204 }),
    /** What it took, as `<type> <nick>`. */
    taken: [] as string[],
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString();
    const one = { raw, event: JSON.parse(raw) as Received['event'], headers: request.headers };
    receiver.received.push(one);
    const { status, headers = {} } = receiver.answer(one);
    if (status < 300) receiver.taken.push(`${one.event.event_type} ${one.event.payload.nick}`);
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/identity`;
  return receiver;
}

/** A log, the registry's commands, and a worker that tells the receiver. */
async function stage(t: Test, options: Partial<PushIdentityOptions> = {}) {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const receiver = await startReceiver(t);
  const registry = new IdentityRegistry({
    log,
    logger,
    agents: undefined,
    challenges: walletChallenges(log, 1),
  });
  const push = (on: Log = log) => {
    const worker = new PushIdentity({
      log: on,
      logger,
      source: 'relay-network',
      pausesMs: { first: 5, longest: 20 },
      receiver: { url: receiver.url, secret, timeoutMs: 10_000 },
      ...options,
    });
    t.teardown(() => worker.stop());
    worker.start();
    return worker;
  };
  return { nats, log, receiver, registry, push };
}

async function outcomes(log: Log): Promise<(IdentityFact & { type: 'push.delivered' | 'push.given_up' })[]> {
  const facts = [];
  for await (const fact of log.subject(identity, pushSubject)) facts.push(fact);
  return facts as never;
}

t.test('IDENT-20 each change is told, signed, in the order of its nick', async (t) => {
  const { log, receiver, registry, push } = await stage(t);
  const wallet = newWallet();
  await registry.link('alice', wallet.address, false, asking);
  push();
  await registry.link('alice', wallet.address, true, asking);
  const { challenge } = await registry.challenge('alice', asking);
  await registry.verify('alice', await wallet.signMessage({ message: challenge }), asking);
  await registry.noteAgent('alice', wallet.address, 0, 'test');
  await registry.unlink('alice', asking);
  await eventually('all to be told', () => receiver.taken.length === 4);
  const { address: wallet_address } = wallet;
  const payload = { nick: 'alice', wallet_address, verified: 0, agent_id: null, sync_version: 0 };
  t.same(
    receiver.received.map(({ event }) => [event.event_type, event.payload]),
    [
      ['identity.linked', payload],
      ['identity.verified', { ...payload, verified: 1, sync_version: 1 }],
      ['identity.agent_changed', { ...payload, verified: 1, agent_id: 0, sync_version: 2 }],
      ['identity.unlinked', { ...payload, sync_version: 2 }],
    ],
  );
  const facts = new Map<string, Date>();
  for await (const { id, at } of log.subject(identity, 'identity.registry')) facts.set(id, at);
  for (const { raw, event, headers } of receiver.received) {
    t.equal(headers['x-relay-signature'], signBody(secret, raw));
    t.ok(Math.abs(Date.now() - Date.parse(String(headers['x-relay-timestamp']))) < 60_000);
    t.match(headers['content-type'], 'application/json');
    t.same(Object.keys(event), ['event_id', 'event_type', 'source', 'created_at', 'payload']);
    t.equal(event.source, 'relay-network');
    t.equal(event.created_at, facts.get(event.event_id)?.toISOString(), 'id and time of the fact');
  }
  const recorded = await eventually('the outcomes', async () => {
    const all = await outcomes(log);
    return all.length === 4 && all;
  });
  t.ok(recorded.every(({ type, data }) => type === 'push.delivered' && data.attempts === 1));
});

t.test('IDENT-20 the end of a claim is told as an unlink is', async (t) => {
  const { receiver, registry, push } = await stage(t);
  const wallet = newWallet();
  await registry.link('thief', wallet.address, true, asking);
  await registry.link('claimant', wallet.address, true, asking);
  await registry.link('owner', wallet.address, true, asking);
  push();
  const { challenge } = await registry.challenge('owner', asking);
  await registry.verify('owner', await wallet.signMessage({ message: challenge }), asking);
  await eventually('all to be told', () => receiver.taken.length === 6);
  t.same(receiver.taken.toSorted(), [
    'identity.linked claimant',
    'identity.linked owner',
    'identity.linked thief',
    'identity.unlinked claimant',
    'identity.unlinked thief',
    'identity.verified owner',
  ]);
});

t.test('IDENT-21 what is not taken is tried again, and nothing of the nick overtakes it', async (t) => {
  const { log, receiver, registry, push } = await stage(t);
  let refusals = 4;
  const statuses = [500, 429, 401, 302];
  receiver.answer = ({ event }) =>
    event.payload.nick === 'alice' && refusals > 0
      ? { status: statuses[--refusals]!, headers: { location: receiver.url } }
      : { status: 200 };
  push();
  await registry.link('alice', newWallet().address, false, asking);
  await registry.unlink('alice', asking);
  await registry.link('bob', newWallet().address, false, asking);
  await eventually('all to be told', () => receiver.taken.length === 3);
  t.ok(receiver.taken.indexOf('identity.linked alice') < receiver.taken.indexOf('identity.unlinked alice'));
  const tries = receiver.received.filter(({ event }) => event.event_type === 'identity.linked');
  const alices = tries.filter(({ event }) => event.payload.nick === 'alice');
  t.equal(alices.length, 5);
  t.equal(new Set(alices.map(({ raw }) => raw)).size, 1, 'the same bytes, and so the same id');
  await eventually('the outcomes', async () => (await outcomes(log)).length === 3);
  const first = (await outcomes(log)).find(({ data }) => data.seq === 1);
  t.match(first, { type: 'push.delivered', data: { nick: 'alice', attempts: 5 } });
});

t.test('IDENT-21 what is refused for good, and what is too old', async (t) => {
  const refused = await stage(t);
  refused.receiver.answer = () => ({ status: 410 });
  refused.push();
  await refused.registry.link('alice', newWallet().address, false, asking);
  const [given] = await eventually('the outcome', async () => {
    const all = await outcomes(refused.log);
    return all.length === 1 && all;
  });
  t.match(given, {
    type: 'push.given_up',
    data: { seq: 1, nick: 'alice', event_type: 'identity.linked', attempts: 1, reason: 'answered 410' },
  });
  t.equal(refused.receiver.received.length, 1);

  const late = await stage(t, { giveUpMs: 3_000 });
  late.receiver.answer = () => ({ status: 503 });
  late.push();
  await late.registry.link('bob', newWallet().address, false, asking);
  const [old] = await eventually('the outcome', async () => {
    const all = await outcomes(late.log);
    return all.length === 1 && all;
  });
  t.match(old, { type: 'push.given_up', data: { nick: 'bob', reason: 'answered 503' } });
  t.ok(old!.data.attempts > 1);
});

t.test('IDENT-21 a receiver that asks for time gets it', async (t) => {
  const { receiver, registry, push } = await stage(t);
  const at: number[] = [];
  receiver.answer = () => {
    at.push(performance.now());
    return at.length === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200 };
  };
  push();
  await registry.link('alice', newWallet().address, false, asking);
  await eventually('it to be told', () => receiver.taken.length === 1);
  t.ok(at[1]! - at[0]! >= 990, `${Math.round(at[1]! - at[0]!)} ms later`);
});

t.test('IDENT-22 another worker goes on where one has ended', async (t) => {
  const { nats, log, receiver, registry, push } = await stage(t);
  const first = push();
  await registry.link('one', newWallet().address, false, asking);
  await eventually('the outcome', async () => (await outcomes(log)).length === 1);
  receiver.answer = () => ({ status: 500 });
  const two = await registry.link('two', newWallet().address, false, asking);
  await registry.link('three', newWallet().address, false, asking);
  await eventually('tries', () => receiver.received.some(({ event }) => event.payload.nick === 'three'));
  await first.stop();
  // as if it had been told, and the log had been told so, and the consumer not
  const told = { seq: two.position.seq, nick: 'two', event_type: 'identity.linked', attempts: 1 };
  await log.append(identity, pushSubject, { type: 'push.delivered', data: told }, { by: 'test' });
  receiver.answer = () => ({ status: 200 });
  receiver.received.length = 0;
  push(await openLog(t, nats));
  await registry.link('four', newWallet().address, false, asking);
  await eventually('the rest', () => receiver.taken.length >= 3);
  t.same([...receiver.taken].sort(), [
    'identity.linked four',
    'identity.linked one',
    'identity.linked three',
  ]);
  t.notOk(receiver.received.some(({ event }) => ['one', 'two'].includes(event.payload.nick)));
});

t.test('IDENT-20 the service tells of what is done through it', async (t) => {
  const receiver = await startReceiver(t);
  const environment = { EM_IDENTITY_WEBHOOK_URL: receiver.url, EM_IDENTITY_WEBHOOK_SECRET: secret };
  const { link } = await identityStage(t, { ...environment, EM_SOURCE: 'here' });
  await link('Alice', newWallet().address);
  await eventually('it to be told', () => receiver.taken.length === 1);
  t.match(receiver.received[0]!.event, { event_type: 'identity.linked', source: 'here' });
});

t.test('IDENT-22 the log goes away and comes back', async (t) => {
  const { nats, receiver, registry, push } = await stage(t);
  push();
  await registry.link('before', newWallet().address, false, asking);
  await eventually('it to be told', () => receiver.taken.length === 1);
  await restart(nats);
  await eventually('the registry', () =>
    registry.link('after', newWallet().address, false, asking).then(
      () => true,
      ({ code }: { code?: string }) => code === 'nick_linked',
    ),
  );
  await eventually('the other', () => receiver.taken.includes('identity.linked after'));
});

async function restart(nats: TestNats): Promise<void> {
  await nats.kill();
  await nats.start();
}

import pino from 'pino';
import t from 'tap';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import { identity, registryDecider } from '../../streams/identity/index.js';
import { IdentityRegistry } from '../../workers/identity/index.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { openLog } from './log.js';
import { type IdentityStage, identityStage, newWallet } from './stage.js';

const logger = pino({ level: 'silent' });
const asking = { by: 'test' };
const racers = 200;
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;

/** Sends so many requests at once, by turns to both services, and counts the statuses. */
async function race(
  services: IdentityStage[],
  request: (stage: IdentityStage, n: number) => Promise<{ status: number }>,
): Promise<Record<number, number>> {
  const answers = await Promise.all(
    Array.from({ length: racers }, (_, n) => request(services[n % services.length]!, n)),
  );
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

t.test('two services on one log', async (t) => {
  const first = await identityStage(t);
  const second = await identityStage(t, {}, first.nats);
  const both = [first, second];

  t.test('IDENT-02 200 wallets for one nick', async (t) => {
    t.same(await race(both, (stage, n) => stage.link('prize', address(n + 1))), { 201: 1, 409: 199 });
    const links = await Promise.all(both.map(({ ask }) => ask('GET', '/identity/by-nick/prize')));
    t.same(links[0]!.body, links[1]!.body);
  });

  t.test('IDENT-02 200 nicks for one wallet', async (t) => {
    const { address: wanted } = newWallet();
    t.same(await race(both, (stage, n) => stage.link(`hunter${n}`, wanted)), { 201: 1, 409: 199 });
    const { body } = await first.ask('GET', `/identity/by-wallet/${wanted}`);
    t.match(body.nick, /^hunter\d+$/);
  });

  t.test('IDENT-02 200 that are in nobody’s way', async (t) => {
    t.same(await race(both, (stage, n) => stage.link(`free${n}`, address(n + 10_000))), { 201: 200 });
  });

  t.test('IDENT-08 one signature, sent 200 times, verifies once', async (t) => {
    const wallet = newWallet();
    await first.link('twice', wallet.address);
    const { body } = await first.ask('POST', '/identity/verify-challenge', { nick: 'twice' });
    const signature = await wallet.signMessage({ message: body.challenge });
    const send = ({ ask }: IdentityStage) =>
      ask('POST', '/identity/verify-signature', { nick: 'twice', signature });
    t.same(await race(both, send), { 200: 1, 400: 199 });
  });

  t.test('IDENT-05 200 unlinks at once', async (t) => {
    const unlink = ({ ask }: IdentityStage) => ask('DELETE', '/identity/link/prize');
    t.same(await race(both, unlink), { 200: 1, 404: 199 });
  });
});

t.test('IDENT-23 a registry of many links', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const count = 20_000;
  for (let from = 0; from < count; from += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, n) => {
        const data = { nick: `n${from + n}`, wallet_address: address(from + n), identified: false };
        return log.append(identity, 'identity.registry', { type: 'identity.linked', data }, { by: 'test' });
      }),
    );
  }
  const cold = await openLog(t, nats);
  const registry = new IdentityRegistry({
    log: cold,
    logger,
    agents: undefined,
    challenges: walletChallenges(cold, 1),
  });
  const started = performance.now();
  await t.rejects(registry.link('n19999', address(count), false, asking), { code: 'nick_linked' });
  const firstMs = performance.now() - started;
  t.comment(`the first command took ${Math.round(firstMs)} ms`);
  const { state } = await cold.handle(identity, registryDecider, { is: 'look', nick: 'x' }, { by: 'test' });
  t.equal(state.links.size, count);
  t.match(await registry.link('one-more', address(count), false, asking), {
    fact: { type: 'identity.linked' },
  });
  t.match(await registry.unlink('n7', asking), { fact: { data: { wallet_address: address(7) } } });
  await t.rejects(registry.unlink('n7', asking), { code: 'wallet_not_linked' });
});

t.test('IDENT-27 many commands while the log is away', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const registry = new IdentityRegistry({
    log,
    logger,
    agents: undefined,
    challenges: walletChallenges(log, 1),
  });
  await registry.link('first', address(1), false, asking);
  await nats.kill();
  const ends = await Promise.allSettled(
    Array.from({ length: 100 }, (_, n) => registry.link(`n${n}`, address(n + 2), false, asking)),
  );
  t.ok(
    ends.every((end) => end.status === 'rejected' && end.reason.kind === 'unavailable'),
    'each one is told so',
  );
  await nats.start();
  await eventually('the log to be back', () =>
    registry.link('last', address(500), false, asking).catch(({ code }) => code === 'nick_linked'),
  );
  await t.rejects(registry.link('last', address(501), false, asking), { code: 'nick_linked' });
});

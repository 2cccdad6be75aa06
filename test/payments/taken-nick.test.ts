import t from 'tap';
import { isHolder } from '../../workers/channels/index.js';
import { environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { startApp } from '../support/app.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import {
  bodyOf,
  channelsFile,
  entering,
  paidChannel,
  payTo,
  recordingFetch,
  startPayments,
} from './stage.js';

const room = '#alpha-test';

t.test('PAY-32 a nick that changes hands outside the room', { skip: withoutChain }, async (t) => {
  const [nats, ircd, { chain, facilitator }] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startPayments(t),
  ]);
  const environment = {
    ...environmentOf({ nats, ircd }),
    X402_FACILITATOR_URL: facilitator.url,
    X402_PAY_TO: payTo,
    PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
  };
  let app = await startApp(t, environment);
  await untilKept(app.url);
  const witness = await operatorOn(t, ircd);
  const user = async (nick: string, host: string) => {
    const observer = await observe(ircd.port, { nick, host });
    t.teardown(() => observer.stop());
    return observer;
  };
  const isSeated = async (nick: string) =>
    (await witness.ask(`NAMES ${room}`)).some((line) =>
      new RegExp(` 353 .*[ :]\\+${nick}( |$)`).test(line.trim()),
    );
  const restart = async () => {
    await app.stop();
    app = await startApp(t, environment);
    await untilKept(app.url);
  };
  const present = async (nick: string, proof: string) =>
    await bodyOf(
      await fetch(
        `${app.url}/payments/access/alpha-test`,
        entering(nick, { 'x-payment': proof, 'payment-signature': proof }),
      ),
    );
  /** What the network tells a newcomer about the room, in the end. */
  const fate = async (observer: Observer) => {
    const about = (line: string) => line.includes(room) && / (JOIN|NOTICE) /.test(line);
    await observer.waitUntil(() => observer.raw.some(about), 'a word about the room');
    return observer.raw.find(about)!;
  };

  const { pay, proofs } = recordingFetch(await chain.payer());
  let kim = await user('kim', '127.0.2.1');
  t.equal((await pay(`${app.url}/payments/access/alpha-test`, entering('kim'))).status, 200);
  await eventually('the payer with a voice', () => isSeated('kim'));

  await kim.stop();
  const taker = await user('kim', '127.0.2.2');
  await restart();
  t.match(await fate(taker), /NOTICE kim :.*present the payment again/, 'another who has the nick');
  t.notOk(await isSeated('kim'), 'has no place, after a restart either');

  await taker.stop();
  kim = await user('kim', '127.0.2.1');
  await eventually('the payer to be back', () => isSeated('kim'));

  await kim.ask('PART #alpha-test');
  await kim.ask('NICK elsewhere');
  const second = await user('kim', '127.0.2.2');
  await restart();
  t.match(await fate(second), /NOTICE kim /, 'another who takes the nick when its payer takes another');
  t.notOk(await isSeated('kim'));
  t.notOk(await isSeated('elsewhere'), 'the place is the one of the nick');
  await second.stop();

  const moved = await user('kim', '127.0.2.3');
  t.match(await fate(moved), /NOTICE kim /, 'from another host');
  t.match(await present('kim', proofs[0]!), { status: 'granted', nick: 'kim' });
  await eventually('whoever has the proof of the payment', () => isSeated('kim'));
  await moved.ask('PART #alpha-test');
  await restart();
  await eventually('them to be brought back by a new process', () => isSeated('kim'));
});

t.test('PAY-32 who is the same person', async (t) => {
  const ann = { account: 'ann', host: 'a@one' };
  t.ok(isHolder(ann, { account: 'Ann', host: 'a@two' }), 'an account goes from host to host');
  t.notOk(isHolder(ann, { account: null, host: 'a@one' }), 'and is not the host');
  t.notOk(isHolder(ann, { account: 'bob', host: 'a@one' }));
  const guest = { account: null, host: 'a@one' };
  t.ok(isHolder(guest, { account: null, host: 'A@one' }), 'without an account the host tells');
  t.ok(isHolder(guest, { account: 'ann', host: 'a@one' }), 'and may have an account later');
  t.notOk(isHolder(guest, { account: null, host: 'a@two' }));
});

import t from 'tap';
import { payments, placesSubject } from '../../streams/payments/index.js';
import { openLog } from '../channels/keeper.js';
import { environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startNats } from '../support/nats.js';
import { channelsFile, paidChannel, payTo } from './stage.js';

const room = '#alpha-test';

t.test(
  'PAY-32 the nick of somebody else gives no place',
  { skip: withoutAnope, timeout: 120_000 },
  async (t) => {
    const [nats, network] = await Promise.all([startNats(t), startAccountNetwork(t)]);
    const { ircd, register, identify } = network;
    const user = async (nick: string) => {
      const observer = await observe(ircd.port, { nick, password: ircd.serverPassword });
      t.teardown(() => observer.stop());
      return observer;
    };
    const ann = await user('ann');
    await register(ann, 'ann-password');
    const environment = { X402_PAY_TO: payTo, PAID_CHANNELS: await channelsFile(t, [paidChannel()]) };
    const { url } = await startApp(t, { ...environmentOf({ nats, ircd }), ...environment });
    await untilKept(url);
    const witness = await operatorOn(t, ircd);
    const seated = async () =>
      (await witness.ask(`NAMES ${room}`)).some((line) => / 353 .*[ :]\+ann( |$)/.test(line));
    const log = await openLog(t, nats.url);
    const data = {
      payment: 'p'.repeat(43),
      channel: room,
      session_id: 's'.repeat(22),
      nick: 'ann',
      payer: payTo,
      network: 'eip155:8453',
      asset: payTo,
      amount: '0.10',
      currency: 'USDC',
      tx_hash: `0x${'7'.repeat(64)}`,
      started_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 1_800_000).toISOString(),
      duration_seconds: 1_800,
      holder: null,
    };
    await log.append(payments, placesSubject(room), { type: 'payment.granted', data }, { by: 'test' });
    await eventually('the owner to have a voice', seated);

    const from = ann.raw.length;
    await ann.ask('PRIVMSG NickServ :LOGOUT');
    const isOut = (line: string) => / PART /.test(line) && line.includes(room) && /identify with/.test(line);
    await ann.waitUntil(() => ann.raw.slice(from).some(isOut));
    t.notOk(await seated(), 'who is not identified any more is out, and was told the way back');
    await identify(ann, 'ann', 'ann-password');
    t.notOk(await seated(), 'until the payment is presented again');
  },
);

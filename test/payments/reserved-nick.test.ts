import { pino } from 'pino';
import t from 'tap';
import type { Read } from '../../projections/core/projection.js';
import { Unavailable } from '../../streams/core/index.js';
import { payments, placesSubject } from '../../streams/payments/index.js';
import type { Channels } from '../../workers/channels/index.js';
import { AdmitPayers } from '../../workers/payments/admission/index.js';
import { openLog } from '../channels/keeper.js';
import { environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { startApp } from '../support/app.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { bodyOf, channelsFile, entering, paidChannel, payingFetch, payTo, startPayments } from './stage.js';

const room = '#alpha-test';
const bots = ['relay', 'channelserv', 'em-bot'];

/** A session of a nick whose time has been over for a second. */
const granted = (nick: string) => ({
  type: 'payment.granted' as const,
  data: {
    payment: nick.padEnd(43, 'p'),
    channel: room,
    session_id: nick.padEnd(22, 's'),
    nick,
    payer: payTo,
    network: 'eip155:8453',
    asset: payTo,
    amount: '0.10',
    currency: 'USDC',
    tx_hash: `0x${'7'.repeat(64)}`,
    started_at: new Date(Date.now() - 2_000).toISOString(),
    expires_at: new Date(Date.now() - 1_000).toISOString(),
    duration_seconds: 1,
    holder: null,
  },
});

/** The nicks whose sessions have ended, as recorded. */
async function endedOn(log: Awaited<ReturnType<typeof openLog>>): Promise<string[]> {
  const ended: string[] = [];
  for (let seq = 1; seq <= (await log.head(payments)); seq++) {
    const fact = await log.at(payments, seq);
    if (fact?.type === 'session.ended') ended.push(fact.data.nick);
  }
  return ended.sort();
}

t.test('PAY-34 nobody buys a place for a bot or a service', { skip: withoutChain }, async (t) => {
  const [nats, ircd, { chain, facilitator }] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startPayments(t),
  ]);
  const { url } = await startApp(t, {
    ...environmentOf({ nats, ircd }),
    X402_FACILITATOR_URL: facilitator.url,
    X402_PAY_TO: payTo,
    PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
  });
  await untilKept(url);
  for (const nick of ['NickServ', 'Nick5erv']) {
    const observer = await observe(ircd.port, { nick });
    t.teardown(() => observer.stop());
    await observer.ask();
  }
  const log = await openLog(t, nats.url);
  const account = await chain.payer();
  for (const nick of [...bots, 'RELAY', 'NickServ', 'Nick5erv']) {
    const response = await payingFetch(account)(`${url}/payments/access/alpha-test`, entering(nick));
    t.match(
      { status: response.status, body: await bodyOf(response) },
      { status: 409, body: { code: 'nickname_reserved' } },
      nick,
    );
  }
  t.equal(await log.head(payments), 0, 'nothing is on record');
  t.equal(await chain.balance(account.address), 1_000_000n, 'nothing is paid');
});

t.test('PAY-34 a session of a bot ends, and the bot stays', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const { url } = await startApp(t, {
    ...environmentOf({ nats, ircd }),
    X402_PAY_TO: payTo,
    PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
  });
  await untilKept(url);
  const witness = await operatorOn(t, ircd);
  const isThere = async (nick: string) =>
    (await witness.ask(`NAMES ${room}`)).some((line) =>
      new RegExp(` 353 .*[ :][@+]*${nick}( |$)`).test(line.trim()),
    );
  const present = await eventually('the bots in the channel', async () => {
    const there: string[] = [];
    for (const nick of bots) if (await isThere(nick)) there.push(nick);
    return there.includes('relay') && there;
  });
  const log = await openLog(t, nats.url);
  for (const nick of bots)
    await log.append(payments, placesSubject(room), granted(nick), { by: 'an earlier version' });
  await eventually('the ends', async () => (await endedOn(log)).length === bots.length);
  t.same(await endedOn(log), [...bots].sort());
  for (const nick of present) t.ok(await isThere(nick), `${nick} stays`);
});

t.test('PAY-34 whom the network refuses to remove', async (t) => {
  const log = await openLog(t, (await startNats(t)).url);
  const logged: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const inside = ['stuck', 'guest'];
  let away = 1;
  const channels = {
    create: async () => ({}),
    present: async () => ({ nicks: [...inside], unproven: [] }),
    members: async ({ action, nicks }: { action: string; nicks: [string] }) => {
      const [nick] = nicks;
      if (nick === 'later' && away-- > 0) throw new Unavailable('irc_unavailable');
      if (nick === 'stuck') return { failed: { stuck: 'Cannot use SAPART on an ulined client' } };
      if (action === 'sapart' && inside.includes(nick)) inside.splice(inside.indexOf(nick), 1);
      return { failed: {} };
    },
  } as unknown as Channels;
  const admission = new AdmitPayers({
    log,
    logger,
    channels,
    rooms: [{ name: room, topic: '' }],
    isKept: () => false,
    read: (async () => ({ rows: [], seq: 0 })) as unknown as Read,
    readAt: (async () => ({ rows: [], seq: 0 })) as unknown as Read,
    pauses: { first: 4, longest: 32 },
  });
  t.teardown(() => admission.stop());
  await log.append(payments, placesSubject(room), granted('stuck'), { by: 'test' });
  await log.append(payments, placesSubject(room), granted('later'), { by: 'test' });
  admission.start();
  await eventually('the ends', async () => (await endedOn(log)).length === 2);
  const about = (msg: string) => logged.filter((line) => line.msg === msg);
  const waited = about('paid session cannot be ended yet');
  const tried = waited.filter(({ nick }) => nick === 'stuck').map(({ afterMs }) => Number(afterMs));
  t.equal(tried.length, 7, 'it is tried a few times');
  t.ok(tried.at(-1)! > tried[0]! && tried.every((ms) => ms <= 32), `less and less often: ${tried}`);
  t.match(
    about('paid session ends, but the network refuses to remove the nick: remove it by hand'),
    [{ level: 50, nick: 'stuck', tries: 8, error: 'Cannot use SAPART on an ulined client' }],
    'the operator is told',
  );
  t.match(
    waited.filter(({ nick }) => nick === 'later'),
    [{ level: 20 }],
    'a network that is away refuses nothing',
  );
  await eventually('the other one to be out', async () => !inside.includes('guest'));
  const refused = () => about('somebody without a place cannot be removed');
  await eventually('the sweep to go on', async () => refused().length >= 2);
  t.match(refused()[0], { level: 40, nick: 'stuck', afterMs: Number });
});

t.test('PAY-34 nobody is removed while it is not known yet who has a place', async (t) => {
  const log = await openLog(t, (await startNats(t)).url);
  const inside = ['guest', 'stranger'];
  let lags = 2;
  const left: string[] = [];
  const channels = {
    create: async () => ({}),
    present: async () => ({ nicks: [...inside], unproven: [] }),
    members: async ({ action, nicks }: { action: string; nicks: [string] }) => {
      if (action === 'sapart') left.push(...inside.splice(inside.indexOf(nicks[0]), 1));
      return { failed: {} };
    },
  } as unknown as Channels;
  const none = { rows: [], seq: 0 };
  const seated = { rows: [{ channel: room, nick: 'guest' }], seq: 0 };
  const admission = new AdmitPayers({
    log,
    logger: pino({ level: 'silent' }),
    channels,
    rooms: [{ name: room, topic: '' }],
    isKept: () => false,
    read: (async () => none) as unknown as Read,
    readAt: (async () => {
      t.same(left, [], 'nobody so far');
      if (lags-- > 0) throw new Unavailable('read_model_behind');
      return seated;
    }) as unknown as Read,
  });
  t.teardown(() => admission.stop());
  admission.start();
  await eventually('the stranger to be out', async () => left.length > 0);
  t.same(left, ['stranger']);
  t.same(inside, ['guest']);
  await admission.stop();
});

import t from 'tap';
import { postEvent, sampleEvent } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { observe } from '../../support/irc-observer.js';
import { startIrcd } from '../../support/ircd.js';
import { startLinkedIrcds } from '../../support/linked-ircd.js';
import { startTcpRelay } from '../../support/tcp-relay.js';
import { type NetworkStage, networkStage, operatorOn, userOn } from './stage.js';

const warden = `
<class name="Bans" commands="KLINE ZLINE QLINE">
<type name="Warden" classes="Bans">
<oper name="warden" password="warden-password" host="*@127.*" type="Warden">
<insane ipmasks="yes">`;
/** Where the bots come from, and nobody else. */
const address = '127.0.0.2';

/** What health says of the bots: by the service's name, whether it is well and why not. */
async function healthOf({ ask }: NetworkStage): Promise<Record<string, { status: string; reason?: string }>> {
  return (await ask('GET', '/health')).body.services;
}

const allWell = (stage: NetworkStage) =>
  eventually('all bots to be well', async () => {
    const { bridge, channelserv } = await healthOf(stage);
    return bridge?.status === 'ok' && channelserv?.status === 'ok';
  });

/** The shortest time between two of these moments, in milliseconds. */
const shortestGap = (times: readonly number[]) =>
  Math.min(...times.slice(1).map((at, index) => at - times[index]!));

t.test('NET-05 a bot that is shut out comes back with pauses, and health says why', async (t) => {
  const ircd = await startIrcd(t, { extraConfig: warden });
  const relay = await startTcpRelay(t, ircd.port, { localAddress: address });
  const stage = await networkStage(t, ircd, { IRC_URL: relay.url });
  const guard = await observe(ircd.port, { nick: 'warden', password: ircd.serverPassword });
  t.teardown(() => guard.stop());
  await guard.ask('OPER warden warden-password');
  const reader = await userOn(t, ircd, 'reader');
  await reader.join('#bounties');
  await allWell(stage);
  await t.test('a nick that is forbidden', async (t) => {
    const from = relay.times.length;
    await guard.ask('QLINE channelserv 1h :not this name', 'KILL channelserv :begin again');
    // operators still take their own nicks
    await eventually('the bot to be back', () => relay.times.length > from);
    await allWell(stage);
    t.match((await healthOf(stage)).channelserv, { irc: { nick: 'channelserv' } });
    await guard.ask('QLINE channelserv');
    await allWell(stage);
    t.ok(relay.times.length - from <= 3, 'hardly any connections');
  });

  const bots = [
    { nick: 'em-bot', ident: 'embot', service: 'bridge' },
    { nick: 'relay', ident: 'relay', service: 'bridge' },
    { nick: 'channelserv', ident: 'channelser', service: 'channelserv' },
  ];
  for (const { nick, ident, service } of bots) {
    await t.test(`a K-line on ${nick}`, async (t) => {
      const from = relay.times.length;
      await guard.ask(`KLINE ${ident}@127.* 1h :not wanted here`);
      const reason = await eventually('health to say why', async () => {
        const health = (await healthOf(stage))[service];
        return health?.status === 'degraded' && health.reason;
      });
      t.match(reason, new RegExp(`${nick}: .*not wanted here`));
      await eventually('two tries in vain', () => relay.times.length >= from + 2);
      t.match((await healthOf(stage))[service]?.reason, /not wanted here/, 'and goes on saying so');
      const tries = relay.times.slice(from);
      t.ok(shortestGap(tries) >= 1_000, `tries ${tries.map((at) => at - tries[0]!)} ms after the first`);
      const others = bots.filter((bot) => bot.nick !== nick).map((bot) => bot.nick);
      t.match((await guard.ask(`ISON ${others.join(' ')}`)).join(), others.join(' '), 'the others stay');
      await guard.ask(`KLINE ${ident}@127.*`);
      await allWell(stage);
      t.notOk((await healthOf(stage))[service]?.reason);
    });
  }

  await t.test('a Z-line on the address of all of them', async (t) => {
    const from = relay.times.length;
    const began = Date.now();
    await guard.ask(`ZLINE ${address} 1h :no connections from here`);
    await eventually('health to be degraded', async () => {
      const { bridge, channelserv } = await healthOf(stage);
      return bridge?.status === 'degraded' && channelserv?.status === 'degraded' && bridge.reason;
    });
    const event = sampleEvent('evt-banned', { event_type: 'task.expired', payload: { id: 'banned' } });
    t.equal((await postEvent(stage.app.url, event)).status, 202);
    await eventually('tries in vain', () => relay.times.length >= from + 4);
    const seconds = (Date.now() - began) / 1_000;
    const tries = relay.times.length - from;
    t.ok(tries <= 3 * (seconds + 1), `${tries} tries of three bots in ${seconds} s`);
    await guard.ask(`ZLINE ${address}`);
    await allWell(stage);
    const shown = () => reader.texts('#bounties').filter((text) => text.includes('banned'));
    await eventually('what was accepted meanwhile to be shown', () => shown().length > 0);
    t.equal(shown().length, 1);
  });
});

t.test('NET-06 a bot whose nick was taken on the other side of a split has it back', async (t) => {
  const network = await startLinkedIrcds(t);
  const { near, far } = network;
  const relay = await startTcpRelay(t, near.port);
  const stage = await networkStage(t, near, { IRC_URL: relay.url });
  const reader = await userOn(t, near, 'reader');
  await reader.join('#bounties');
  await network.split();
  const thieves = await Promise.all(['em-bot', 'channelserv'].map((nick) => userOn(t, far, nick)));
  const from = relay.times.length;
  await network.relink();
  for (const thief of thieves) t.ok(thief.connected || thief.connects > 0);
  const here = await operatorOn(t, near, 'near-oper');
  await allWell(stage);
  const whois = await here.ask('WHOIS em-bot', 'WHOIS channelserv');
  for (const nick of ['em-bot', 'channelserv'])
    t.ok(
      whois.some((line) => line.includes(` 312 near-oper ${nick} irc.relay.internal`)),
      `${nick} is ours`,
    );
  const tries = relay.times.length - from;
  t.ok(tries <= 6, `${tries} connections`);
  await postEvent(
    stage.app.url,
    sampleEvent('evt-back', { event_type: 'task.expired', payload: { id: 'back' } }),
  );
  await reader.waitFor(({ text }) => text.includes('back'));
  t.equal(reader.texts('#bounties').length, 1);
});

import t from 'tap';
import { createEnforcement } from '../../workers/channels/client.js';
import { enforce } from '../../workers/channels/enforce.js';
import { createChannels } from '../../workers/channels/index.js';
import { bannedAmong, mutedAmong } from '../../workers/channels/offenders.js';
import { hostOf, introduction, personOf } from '../../workers/speech/introduction.js';
import { asker, openLog } from '../channels/keeper.js';
import { channelStage } from '../channels/stage.js';
import { credentials, joinOne, startBot } from '../irc/bot.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';

t.test('MOD-54 who is muted or banned is known by the mask, also at an IPv6 address', async (t) => {
  const ircd = await startIrcd(t);
  const session = await startBot(t, { ...credentials(ircd), nick: 'channelserv' }).session();
  await joinOne(session, '#lobby');
  const person = personOf('nick mallory');
  const gateway = { url: ircd.url, webirc: introduction(person, ircd.gatewayPassword) };
  await joinOne(await startBot(t, { ...gateway, nick: 'mallory' }).session(), '#lobby');
  await joinOne(await startBot(t, { url: ircd.url, nick: 'ann' }).session(), '#lobby');
  const { lines } = await session.ask('WHOIS', 'mallory');
  const [, , user = '', host = ''] = lines.find(({ command }) => command === '311')!.params;
  t.equal(host, hostOf(person));
  const who = { channel: '#lobby', nick: 'mallory', host: `${user}@${host}`, text: 'Attack' };
  const none = { masksIn: async () => [] };
  const held = async (ours = none) => ({
    muted: await mutedAmong(session, '#lobby', ['ann', 'mallory'], ours),
    banned: await bannedAmong(session, '#lobby', ['ann', 'mallory', 'gone'], ours),
  });
  t.same(await held(), { muted: [], banned: [] });

  t.match(await enforce(session, { act: 'quiet', ...who }), { is: 'done', mask: /^m:U:\*!\*@fd.*::\/64$/ });
  t.same(await held(), { muted: ['mallory'], banned: [] });
  const ban = await enforce(session, { act: 'ban', ...who });
  t.match(ban, { is: 'done' });
  t.same(await held(), { muted: [], banned: ['mallory'] }, 'and out of the channel');
});

t.test('MOD-54 masks that the server names as its own are those that are on record', async (t) => {
  const ircd = await startIrcd(t);
  const session = await startBot(t, { ...credentials(ircd), nick: 'channelserv' }).session();
  const other = await startBot(t, { ...credentials(ircd), nick: 'other' }).session();
  await joinOne(session, '#lobby');
  await joinOne(await startBot(t, { url: ircd.url, nick: 'mallory' }).session(), '#lobby');
  const mask = 'U:*!*@127.0.0.1';
  await other.ask('SAMODE', '#lobby', '+b', mask);
  const banned = (masks: string[]) =>
    bannedAmong(session, '#lobby', ['mallory'], { masksIn: async () => masks });
  t.same(await banned([]), [], 'what somebody else has set is theirs');
  t.same(await banned([mask]), ['mallory'], 'after a restart of the server it is ours still');
});

t.test('MOD-54 who was asked into a room is not let past a ban', { timeout: 120_000 }, async (t) => {
  const { nats, agent, names, witness, ask } = await channelStage(t);
  const log = await openLog(t, nats.url);
  const [enforceFor, channels] = [createEnforcement(log), createChannels(log)];
  const room = '#task-11111111';
  const made = { name: room, type: 'task', modes: '+int', invite_list: ['mallory', 'ann'] };
  t.equal((await ask('POST', '/channels', made)).status, 201);
  const ban = { act: 'ban' as const, channel: room, nick: 'mallory', text: 'Attack' };
  t.match(await enforceFor({ ...ban, host: 'mallory@127.0.7.1' }), { is: 'done' });

  const mallory = await agent('mallory', '127.0.7.1');
  await agent('ann', '127.0.7.2');
  await eventually('the other one who was asked', async () => (await names(room)).includes('ann'));
  // who comes is brought in at once: an answer to who is there shows that it was looked at
  await mallory.ask('VERSION');
  t.notOk((await names(room)).includes('mallory'), 'who was away');

  const nicks = ['mallory', 'bob'];
  await agent('bob', '127.0.7.3');
  const invited = await channels.invite({ name: room, nicks, event_seq: 1 }, asker);
  t.match(invited, { invited: ['bob'], failed_invites: ['mallory'] }, 'and who is asked again');
  await witness.ask('VERSION');
  t.notOk((await names(room)).includes('mallory'));
});

import t from 'tap';
import { channelStage } from '../channels/stage.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { showsRecorder } from '../support/recorder.js';

/** What a bot has told somebody in private. */
const told = (who: Observer, bot: string) =>
  who.lines
    .filter(({ nick, channel, command }) => nick === bot && channel === who.nick && command === 'NOTICE')
    .map(({ text }) => text)
    .join('\n');

t.test('NET-12 NET-13 what newcomers are told', async (t) => {
  const stage = await channelStage(t, { RULES_FILE: '', PUBLIC_URL: 'https://relay.example' });
  const { witness, ircd } = stage;
  const bots = ['relay', 'em-bot', 'channelserv', 'mrserv'];
  const areThere = async () => {
    const answer = (await witness.ask(`ISON ${bots.join(' ')}`)).join('\n');
    return bots.every((bot) => answer.includes(bot));
  };
  await eventually('all bots', areThere);
  const isRecorded = async () => (await witness.ask('NAMES #lobby')).some(showsRecorder);
  await eventually('the lobby to be recorded', isRecorded);

  const ann = await stage.agent('ann');
  ann.send(...bots.map((bot) => `PRIVMSG ${bot} :help`));
  for (const [bot, says] of [
    ['relay', /I am the bridge: .*\/irc\/channels.*\/skill\.md/s],
    ['em-bot', /\/tasks|No marketplace/],
    ['channelserv', /I keep the managed channels.*APPEAL <number> <reason>.*\/skill\.md/s],
    ['mrserv', /LINK <address>/],
  ] as const)
    await ann.waitUntil(() => says.test(told(ann, bot)), `the help of ${bot}`);
  const answersOf = () => told(ann, 'channelserv').split('\n').slice(2);
  const usage = /^APPEAL <number> <reason>: the number is that of the incident/;
  const commands = ['APPEAL', 'APPEAL abc', 'appeal 12abc', 'APPEAL 12', 'foo', 'APPEALS'];
  ann.send(...commands.map((one) => `PRIVMSG channelserv :${one}`), 'NOTICE channelserv :foo');
  await ann.waitUntil(() => answersOf().length === commands.length, 'the answers to what is no command');
  const unknown = 'I do not know that command: APPEAL <number> <reason> | HELP';
  const [heard, appeal] = [answersOf(), 'There is no incident 12'];
  t.match(
    heard.filter((text) => text !== appeal),
    [usage, usage, usage, unknown, unknown],
  );
  t.ok(heard.includes(appeal), 'an appeal is answered once, also without a reason');
  await ann.join('#lobby');
  await ann.waitUntil(() => /Programs: mark yourselves/.test(told(ann, 'relay')), 'the rules');
  t.match(told(ann, 'relay'), /To read: https:\/\/relay\.example\/skill\.md$/);

  await ann.ask('PRIVMSG #lobby :said before');
  const old = await observe(ircd.port, { nick: 'old', channels: ['#lobby'], tags: false });
  t.teardown(() => old.stop());
  const raw = old.raw.join('\n');
  t.match(raw, /NOTICE (old|#lobby) :.*Replaying up to \d+ lines .*\n.* PRIVMSG #lobby :said before/s);
  const fresh = await stage.agent('fresh');
  await fresh.join('#lobby');
  t.notMatch(fresh.raw.join('\n'), /Replaying/, 'who gets a batch needs no word');
});

import { rm, writeFile } from 'node:fs/promises';
import pino from 'pino';
import t from 'tap';
import { rulesOf } from '../../src/app/bots/rules-file.js';
import { readConfig } from '../../src/config/config.js';
import { greetNewcomers } from '../../workers/network/index.js';
import { parseRules } from '../../workers/network/rules.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { temporaryDirectory } from '../support/sql.js';
import { Stage } from './stage.js';

const logger = pino({ level: 'silent' });

/** What somebody was told by the recorder, in private. */
const told = (who: Observer) =>
  who.lines
    .filter(({ channel, command, nick }) => channel === who.nick && command === 'NOTICE' && nick === 'relay')
    .map(({ text }) => text);

t.test('NET-11 rules are read, with those of single channels', async (t) => {
  const rules = parseRules(`Be kind. \n\n\x02No\x02 floods\n[#Desk]\nAsk here.\n[#silent]\n[no channel]`);
  t.same(rules.general, ['Be kind.', 'No floods']);
  t.same(
    [...rules.own],
    [
      ['#desk', ['Ask here.']],
      ['#silent', ['[no channel]']],
    ],
  );
  t.equal(parseRules('x\n'.repeat(50)).general.length, 6, 'nobody reads more');
  t.ok(Buffer.byteLength(parseRules('ü'.repeat(900)).general[0]!) <= 380, 'a line fits a notice');
});

t.test('NET-11 the file is edited while the service runs', async (t) => {
  const path = `${await temporaryDirectory(t)}/rules.txt`;
  const config = (file: string) => readConfig({ EM_WEBHOOK_SECRET: 'x'.repeat(64), RULES_FILE: file });
  t.throws(() => config(path), /RULES_FILE: must be a file that can be read/);
  await writeFile(path, 'Be kind.');
  let now = 0;
  const rules = rulesOf(config(path), logger, () => now)!;
  t.equal(rules(), 'Be kind.');
  await writeFile(path, 'Be patient.');
  t.equal(rules(), 'Be kind.', 'not looked at each time');
  now += 5_000;
  t.equal(rules(), 'Be patient.');
  await rm(path);
  now += 5_000;
  t.equal(rules(), 'Be patient.', 'a file that is gone leaves those of before');
  t.match(rulesOf(config(''), logger)!(), /\+B.*http:\/\/localhost:8100\/skill\.md/);
  t.equal(rulesOf(config('none'), logger), undefined);
  const shown = (minutes: number) =>
    parseRules(rulesOf({ ...config(''), GUARDIAN_LOOP_MINUTES: minutes }, logger)!()).general.join('\n');
  t.match(shown(10), /a warning, a mute, a kick or a ban, by how bad it is/);
  t.match(shown(10), /too fast for a warning, they are muted at once\.\nPrograms: /, 'no line is cut');
  t.notMatch(shown(0), /muted/, 'the loop guard is off');
});

t.test('NET-11 who joins is told the rules, once a day', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const join = async (nick: string, ...channels: string[]) => {
    const one = await observe(ircd.port, { nick, channels });
    t.teardown(() => one.stop());
    return one;
  };
  const early = await join('early', '#lobby');
  const place = { url: ircd.url, password: ircd.serverPassword };
  const { connection } = await stage.record(['#lobby', '#desk', '#silent'], place);
  const rules = 'Be kind.\nNo floods.\n[#desk]\nAsk here.\n[#silent]\n';
  greetNewcomers(connection, { logger, rules: () => rules, bots: ['em-bot'] });
  for (const channel of ['#lobby', '#desk', '#silent'])
    await eventually(`${channel} to be recorded`, async () => stage.of(channel).length > 0);

  const ann = await join('ann', '#silent', '#lobby', '#desk');
  await ann.waitUntil(() => told(ann).length === 3);
  t.same(told(ann), ['Be kind.', 'No floods.', 'Ask here.']);
  const bot = await join('em-bot', '#lobby');
  await ann.ask('PART #lobby', 'JOIN #lobby');
  const last = await join('last', '#lobby');
  await last.waitUntil(() => told(last).length === 2);
  t.equal(told(ann).length, 3, 'not again');
  t.same(told(bot), [], 'our own bots know');
  t.same(told(early), [], 'nor who was there before');
  t.same(ann.texts('#lobby'), [], 'nothing is said in the channel');

  const crowd = await Promise.all(Array.from({ length: 60 }, (_, n) => join(`c${n}`)));
  const from = Date.now();
  for (const one of crowd) one.send('JOIN #lobby');
  await eventually('all to have joined', async () => crowd.every(({ raw }) => / 366 /.test(raw.join('\n'))));
  const greetedOf = () => crowd.filter((one) => told(one).length > 0).length;
  await eventually('some to be told', async () => greetedOf() >= 5);
  await Promise.all(crowd.map((one) => one.ask()));
  const seconds = (Date.now() - from) / 1_000;
  const greeted = greetedOf();
  t.ok(greeted >= 5 && greeted <= 10 + 2 * seconds, `${greeted} of 60 in ${seconds} s`);
});

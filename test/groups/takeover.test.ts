import t from 'tap';
import { namesOf } from '../../workers/core/durable-consumer.js';
import { askOf, environmentOf } from '../channels/stage.js';
import { openLog } from '../identity/log.js';
import { operator, operatorKey } from '../keys/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';

t.test('GROUP-07 a line is answered once, whoever gets it again', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const environment = {
    ...environmentOf({ nats, ircd }),
    IRC_CHANNELS: '#lobby',
    API_KEYS: `ops:${operatorKey}`,
  };
  const first = await startApp(t, environment);
  const on = async (nick: string, host: string) => {
    const one = await observe(ircd.port, { nick, channels: ['#lobby'], host });
    t.teardown(() => one.stop());
    return one;
  };
  const ann = await on('ann', '127.0.3.1');
  await on('bob', '127.0.3.2');
  const isRecorded = async () =>
    (await ann.ask('NAMES #lobby')).some((line) => / 353 .*[ :@+]relay\b/.test(line));
  await eventually('the lobby to be recorded', isRecorded);
  await askOf(first.url, 'PUT', '/agents/bob', { abilities: ['one', 'two', 'three'] }, operator);
  const named = () => ann.lines.filter(({ nick }) => nick === 'relay').map(({ text }) => text);
  ann.send('PRIVMSG #lobby :@one');
  await ann.waitUntil(() => named().length === 1, 'the first answer');
  await first.stop();
  await eventually('the bridge to be gone', async () => !(await isRecorded()));

  // nobody knows how far the work was done: all of it comes again
  const log = await openLog(t, nats);
  for (const name of namesOf('address-groups'))
    await log.manager.consumers.delete('IRC', name).catch(() => undefined);
  const cas = await on('cas', '127.0.3.3');
  cas.send('PRIVMSG #lobby :said while nobody listens, @two');
  await cas.ask();
  await startApp(t, environment);
  await ann.waitUntil(() => named().length >= 2, 'the answer to what was missed');
  const dan = await on('dan', '127.0.3.4');
  dan.send('PRIVMSG #lobby :@three');
  await ann.waitUntil(() => named().some((text) => text.startsWith('@three')), 'the last answer');
  t.same(named(), ['@one: bob', '@two: bob', '@three: bob']);
});

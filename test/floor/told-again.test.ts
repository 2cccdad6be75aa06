import { Writable } from 'node:stream';
import pino from 'pino';
import t from 'tap';
import { irc } from '../../streams/network/index.js';
import { TellFloors } from '../../workers/floor/index.js';
import { openLog } from '../identity/log.js';
import { credentials, startBot } from '../irc/bot.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startTcpRelay } from '../support/tcp-relay.js';

t.test('FLOOR-08 a turn whose line was lost with its connection is told again', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const [log, relay] = await Promise.all([openLog(t, nats), startTcpRelay(t, ircd.port)]);
  const witness = await observe(ircd.port, { nick: 'witness', channels: ['#lobby'] });
  t.teardown(() => witness.stop());
  const bot = startBot(t, { ...credentials(ircd), url: relay.url, nick: 'relay' });
  const enter = async (session: number) =>
    await (await bot.session(session)).join(['#lobby'], { history: false });
  await enter(1);
  const outcomes: unknown[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      const { msg, is } = JSON.parse(String(chunk));
      if (msg === 'floor') outcomes.push(is);
      done();
    },
  });
  const teller = new TellFloors({
    log,
    logger: pino(sink),
    irc: bot.connection,
    rooms: { hear: () => {} },
    floors: async () => [],
  });
  t.teardown(() => teller.stop());
  teller.start();

  const says = async (...lines: [nick: string, text: string][]) => {
    const at = Date.now();
    const seen = lines.map(([nick, text]) => ({
      is: 'message' as const,
      nick,
      text,
      host: `${nick}.example`,
      at,
    }));
    const data = { channel: '#lobby', lines_before: 0, seen };
    await log.append(irc, 'irc.lobby', { type: 'channel.observed', data }, { by: 'test' });
  };
  const told = (nick: string) =>
    eventually(
      `the turn of ${nick}`,
      () => witness.texts('#lobby').filter((text) => text.includes(nick)).length,
    );

  // what is recorded before it follows is for the read model to tell it
  await eventually('it to follow', async () => {
    await says(['zoe', '/floor']);
    return outcomes.length > 0;
  });
  await told('zoe');
  t.same(outcomes.splice(0), ['confirmed']);
  relay.freeze();
  await says(['ann', '/floor'], ['zoe', '/floor done']);
  await eventually('the line to be lost', () => outcomes.length > 0);
  t.same(outcomes, ['lost']);
  await enter(2);
  t.equal(await told('ann'), 1);
});

import t from 'tap';
import { answers } from '../../../src/servers/net.js';
import { environmentOf } from '../../channels/stage.js';
import { postEvent, sampleEvent, startApp } from '../../support/app.js';
import { eventually, hangMs } from '../../support/eventually.js';
import { observe } from '../../support/irc-observer.js';
import { startIrcd } from '../../support/ircd.js';
import { startNats } from '../../support/nats.js';

t.test('NET-10 our own server keeps the nicks of all bots, also while they are away', async (t) => {
  const nats = await startNats(t);
  const names = { BRIDGE_NICK: 'ears', EM_NICK: 'mouth', CHANNELSERV_NICK: 'hands', MRSERV_NICK: 'clerk' };
  const app = await startApp(t, { NATS_URL: nats.url, IRC_EMBEDDED_PORT: '0', ...names });
  const port = Number(new URL(app.places.irc).port);
  await eventually('the bots to be there', async () => await areWell(app.url));
  for (const nick of Object.values(names)) {
    const greeting = `NICK ${nick.toUpperCase()}\r\nUSER a a a :a\r\n`;
    t.ok(await answers({ port }, greeting, / 432 \S+ \w+ :.*Kept for the service/, hangMs), nick);
  }
});

t.test('NET-10 a stranger who has the nick of a bot before it comes is put off it', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const strangers = await Promise.all(
    ['em-bot', 'relay', 'channelserv', 'mrserv'].map((nick) =>
      observe(ircd.port, { nick, reconnect: false, channels: ['#lobby'] }),
    ),
  );
  for (const stranger of strangers) t.teardown(() => stranger.stop());
  const reader = await observe(ircd.port, {
    nick: 'reader',
    password: ircd.serverPassword,
    channels: ['#bounties'],
  });
  t.teardown(() => reader.stop());
  const app = await startApp(t, environmentOf({ nats, ircd }));
  t.equal((await postEvent(app.url, sampleEvent('evt-1'))).status, 202);
  const line = await reader.waitFor(({ channel }) => channel === '#bounties');
  t.equal(line.nick, 'em-bot');
  await eventually('all strangers to be gone', () => strangers.every(({ connected }) => !connected));
  await eventually('all bots to be well under their nicks', async () => await areWell(app.url));
});

/** Whether the bots are operators under their own nicks. */
async function areWell(url: string): Promise<boolean> {
  const { services } = (await (await fetch(`${url}/health`)).json()) as {
    services: Record<string, { status: string }>;
  };
  return ['bridge', 'channelserv', 'mrserv'].every((name) => services[name]?.status === 'ok');
}

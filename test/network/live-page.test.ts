import t from 'tap';
import { startApp } from '../support/app.js';
import { openPage, withoutBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startTcpRelay } from '../support/tcp-relay.js';

t.test('IRC-19 a person watches the network in a browser', { skip: withoutBrowser }, async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
    IRC_CHANNELS: '#lobby,#disputes',
  });
  const alice = await observe(ircd.port, { nick: 'alice', password: ircd.serverPassword });
  t.teardown(() => alice.stop());
  await alice.join('#lobby', '#disputes');
  const channels = async () => (await (await fetch(`${app.url}/irc/channels`)).json()) as unknown[];
  await eventually('the channels to be recorded', async () => (await channels()).length === 2);
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script> & \x0304red';
  await alice.ask('PRIVMSG #lobby :before', `PRIVMSG #lobby :${hostile}`);
  const messages = async () =>
    (await (await fetch(`${app.url}/irc/channels/lobby/messages`)).json()) as unknown[];
  await eventually('the lines to be recorded', async () => (await messages()).length === 2);

  // between the page and the service, so that the connection can be cut
  const relay = await startTcpRelay(t, Number(new URL(app.url).port));
  const { page, problems } = await openPage(t);
  const answer = await page.goto(`http://127.0.0.1:${relay.port}/irc/live#lobby`);
  t.match(answer?.headers()['content-security-policy'], /default-src 'none'; script-src 'sha256-/);
  const texts = () => page.locator('#lines p').allTextContents();
  const until = (what: string, check: () => Promise<boolean>) => eventually(what, check);

  t.test('lines appear, as text', async (t) => {
    await until('the last lines', async () => (await texts()).length === 2);
    t.same(await texts(), ['before', hostile.replace('\x0304', '')]);
    t.match(await page.title(), '#lobby');
    t.equal(await page.locator('#lines img, #lines script').count(), 0);
    await page.locator('#state.on').waitFor();
    await alice.ask('PRIVMSG #lobby :\x01ACTION waves\x01');
    await until('a live line', async () => (await texts()).length === 3);
    t.equal((await texts()).at(-1), 'alice waves');
    t.same(problems, []);
  });

  t.test('a lost connection comes back, and every line is shown once', async (t) => {
    relay.cut();
    relay.refuse(true);
    await alice.ask('PRIVMSG #lobby :while away');
    await page.locator('#state:not(.on)').waitFor();
    relay.refuse(false);
    await until('the line that was missed', async () => (await texts()).includes('while away'));
    await page.locator('#state.on').waitFor();
    await alice.ask('PRIVMSG #lobby :after');
    await until('a line after it', async () => (await texts()).at(-1) === 'after');
    t.same((await texts()).slice(2), ['alice waves', 'while away', 'after']);
  });

  t.test('another channel is opened with a click', async (t) => {
    await alice.ask('PRIVMSG #disputes :elsewhere');
    await page.getByRole('button', { name: '#disputes' }).click();
    await until('its line', async () => (await texts()).includes('elsewhere'));
    t.match(await page.locator('#topic').textContent(), /Disputed submissions/);
    // of the whole network: alice and four bots
    const counts = async () => (await page.locator('#counts').textContent()) ?? '';
    await until('the counts', async () => /4 channels, 5 users/.test(await counts()));
    await alice.ask('PRIVMSG #lobby :not here', 'PRIVMSG #disputes :here');
    await until('a line of it', async () => (await texts()).includes('here'));
    t.notOk((await texts()).includes('not here'));
  });
});

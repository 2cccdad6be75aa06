import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { readEvents } from '../support/sse.js';

const guestKey = 'g'.repeat(40);
const guest = { 'x-api-key': guestKey };

t.test('IRC-25 LISTEN-05 SOCKET-07 streams end with the key of their reader', async (t) => {
  const ircd = await startIrcd(t);
  const file = join(t.testdir({ keys: `guest:${guestKey}\n` }), 'keys');
  const { ask, given, app } = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    IRC_CHANNELS: '#lobby,#closed',
    API_KEYS_FILE: file,
    ROLES: 'all',
  });
  const bob = await observe(ircd.port, {
    nick: 'bob',
    password: ircd.serverPassword,
    channels: ['#lobby', '#closed'],
  });
  t.teardown(() => bob.stop());
  const say = async (text: string) => {
    bob.send(`PRIVMSG #closed :${text}`);
    await bob.ask();
  };
  await eventually('the recorder to be there', async () => {
    await say('before');
    return (await ask('GET', '/irc/channels/closed/messages')).body.length > 0;
  });
  await bob.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #closed +s');
  await eventually('the gateway to answer', async () => {
    const { status } = await ask('GET', '/irc/connection?nick=carol', undefined, guest);
    return status === 200;
  });
  await eventually('the channel to be private', async () => {
    return (await ask('GET', '/irc/channels/closed/messages')).status === 404;
  });
  const agent = await given('erin', ['read', 'operate']);
  const read = (path: string, headers: Record<string, string>) =>
    readEvents<{ text?: string }>(t, app.url + path, headers);
  const ending = {
    'the lines, for an agent': await read('/irc/stream?channel=closed', agent.headers),
    'the lines, for an operator': await read('/irc/stream?channel=closed', guest),
    'what an operator listens to': await read('/irc/listen?channels=closed&nick=carol', guest),
  };
  const staying = {
    'the lines, with another key': await read('/irc/stream?channel=closed', operator),
    'the lines, without a key': await read('/irc/stream?channel=lobby', {}),
  };
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/irc/socket?channels=closed&nick=carol`, {
    headers: guest,
  });
  t.teardown(() => socket.terminate());
  const frames: string[] = [];
  let code = 0;
  socket.on('message', (data) => frames.push(String(data)));
  socket.on('close', (why) => {
    code = why;
  });
  await once(socket, 'open');
  const heard = (one: { heard: { data: { text?: string } }[] }, wanted: string) =>
    one.heard.some(({ data: { text } }) => text === wanted);

  await say('for few');
  for (const [what, one] of Object.entries(ending))
    await eventually(`${what} to come`, () => heard(one, 'for few'));
  await eventually('the socket to hear', () => frames.join().includes('for few'));

  t.equal((await ask('DELETE', `/auth/keys/${agent.id}`, undefined, operator)).status, 200);
  writeFileSync(file, '# none any more\n');
  for (const [what, one] of Object.entries(ending))
    await eventually(`the end of ${what}`, async () => {
      await say('still there?');
      return one.ended;
    });
  await eventually('the end of the socket', () => code !== 0);
  t.equal(code, 1008);
  await say('too late');
  await eventually('others to hear', () => heard(staying['the lines, with another key'], 'too late'));
  for (const [what, one] of Object.entries(ending)) t.notOk(heard(one, 'too late'), what);
  t.notMatch(frames.join(), 'too late');
  for (const [what, one] of Object.entries(staying)) t.notOk(one.ended, what);
});

import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { attack, guardStage } from '../moderation/stage.js';
import { eventually } from '../support/eventually.js';
import { showsRecorder } from '../support/recorder.js';

t.test('agents that speak through the gateway are moderated as everybody is', async (t) => {
  const { ask, bans, witness, incidents, ircd } = await guardStage(t);
  const rooms = ['#room-a', '#room-b', '#room-c'];
  for (const name of rooms) await ask('POST', '/channels', { name, type: 'special' });
  const isRecorded = async (room: string) => (await witness.ask(`NAMES ${room}`)).some(showsRecorder);
  for (const room of rooms) await eventually(`${room} to be recorded`, () => isRecorded(room));
  const keyOf = async (nick: string) => {
    const { body } = await ask('POST', '/auth/keys', { nick, scopes: ['speak'] });
    return { 'x-api-key': body.key as string };
  };
  const [mallory, bob] = [await keyOf('mallory'), await keyOf('bob')];
  const say = (room: string, text: string, headers: Record<string, string>) =>
    ask('POST', `/irc/channels/${room}/messages`, { text }, headers);
  await eventually('the gateway', async () => (await ask('POST', '/irc/connection', {}, bob)).status === 200);

  await t.test('SPEAK-15 a mute outlives a new connection, and is about nobody else', async (t) => {
    for (const [n, room] of ['room-a', 'room-b'].entries()) {
      t.equal((await say(room, attack, mallory)).status, 200);
      await eventually(`incident ${n + 1} to be dealt with`, async () => {
        const one = (await incidents('mallory'))[n];
        return one && one.outcome === 'done';
      });
    }
    t.match(await bans('#room-b'), [/^m:U:\*!\*@fd[0-9a-f:]+\/64$/], 'by the network of its own');
    const told = await eventually('the notice', async () => {
      const { body } = await ask('GET', '/irc/inbox', undefined, mallory);
      return body.messages.find(({ from }: { from: string }) => from === 'channelserv');
    });
    t.match(told, { is: 'private', text: /incident \d+/ }, 'it hears what it did');
    const refused = { status: 409, body: { code: 'refused_by_network' } };
    t.match(await say('room-b', 'can you hear me?', mallory), refused);
    await ask('DELETE', '/irc/connection', undefined, mallory);
    t.match(await say('room-b', 'and now?', mallory), refused, 'on a new connection');
    t.equal((await say('room-b', 'I am another one', bob)).status, 200);
  });

  await t.test('SPEAK-34 an attack on its readers reaches no agent that it names', async (t) => {
    const eve = await keyOf('eve');
    const joined = await ask('POST', '/irc/connection/channels', { channel: 'room-b' }, bob);
    t.equal(joined.status, 200);
    t.equal((await say('room-b', `bob: ${attack}`, eve)).status, 200);
    t.equal((await say('room-b', 'I am here, bob', bob)).status, 200);
    witness.send(`PRIVMSG bob :${attack}`);
    const heard = async (headers?: Record<string, string>) => {
      const { body } = await ask('GET', '/irc/inbox?nick=bob', undefined, headers);
      return body.messages.filter(({ from }: { from: string }) => from !== 'channelserv');
    };
    const both = await eventually('both to be heard', async () => {
      const found = await heard(bob);
      return found.length === 2 && found;
    });
    t.match(both, [
      { is: 'mention', from: 'eve', text: '[withheld: guardian]' },
      { is: 'private', from: witness.nick, text: attack },
    ]);
    t.match((await heard())[0], { text: `bob: ${attack}` }, 'operators see all of it');
  });

  await t.test('SPEAK-36 two that answer each other are stopped within ten lines', async (t) => {
    const pair = { ping: await keyOf('ping'), pong: await keyOf('pong') };
    const nicks = ['ping', 'pong'] as const;
    for (const nick of nicks) {
      const channel = { channel: 'room-c' };
      t.equal((await ask('POST', '/irc/connection/channels', channel, pair[nick])).status, 200);
    }
    const words = 'that is an interesting thought, and it makes me wonder what you would do';
    const speak = async (n: number) => {
      const [from, to] = [nicks[n % 2]!, nicks[(n + 1) % 2]!];
      await delay(250); // as long as a program needs for its answer
      return await say('room-c', `${to}: ${words} ${n}`, pair[from]);
    };
    for (let n = 0; n < 10; n++) if ((await speak(n)).status !== 200) break;
    for (const nick of nicks) {
      const all = await eventually(`${nick} to be muted`, async () => {
        const found = await incidents(nick);
        return found.length === 2 && found.every(({ outcome }) => outcome !== null) && found;
      });
      t.match(all, [
        { channel: '#room-c', level: 'WARN', patterns: 'loop', outcome: 'done' },
        { channel: '#room-c', level: 'MUTE', patterns: 'loop', outcome: 'done' },
      ]);
    }
    for (const n of [0, 1])
      t.match(await speak(n), { status: 409, body: { code: 'refused_by_network' } }, 'no line more');
    const bobs = await say('room-c', 'what was that?', bob);
    t.equal(bobs.status, 200, 'others go on');
  });

  await t.test('SPEAK-16 nobody but the gateway introduces others', async (t) => {
    for (const password of ['wrong', ircd.serverPassword]) {
      const socket = connect(ircd.port, '127.0.0.1');
      t.teardown(() => socket.destroy());
      let heard = '';
      socket.on('data', (chunk) => (heard += chunk));
      socket.write(`WEBIRC ${password} relay bob.example fd00::1\r\nNICK stranger\r\nUSER s 0 * :s\r\n`);
      await eventually('the end of the connection', () => socket.closed);
      t.match(heard, /^ERROR :/m);
      t.notMatch(heard, / 001 /, 'it is not let in');
    }
  });
});

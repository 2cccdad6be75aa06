import t from 'tap';
import { hostOf, personOfAgent } from '../../workers/speech/index.js';
import { newWallet } from '../auth/stage.js';
import { keysStage, operator } from '../keys/stage.js';
import { attack } from '../moderation/stage.js';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { settingsOf } from '../support/ircd.js';
import { showsRecorder } from '../support/recorder.js';

const rooms = ['#room-a', '#room-b', '#room-c'];
const refused = (lines: string[]) => lines.some((line) => / 404 | 474 /.test(line));

t.test(
  'an account and the gateway’s agent of the same owner are one person',
  {
    skip: withoutAnope,
  },
  async (t) => {
    const { ircd, register, identify } = await startAccountNetwork(t);
    const { ask, given, proven } = await keysStage(t, {
      ...settingsOf(ircd),
      IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
      ROLES: 'all',
    });
    const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
    t.teardown(() => witness.stop());
    for (const name of rooms) {
      const made = await eventually('the channel bot', async () => {
        const found = await ask('POST', '/channels', { name, type: 'special', modes: '+nt' }, operator);
        return found.status === 201 && found;
      });
      t.equal(made.status, 201);
      await witness.join(name);
      const isRecorded = async () => (await witness.ask(`NAMES ${name}`)).some(showsRecorder);
      await eventually(`${name} to be recorded`, isRecorded);
    }
    const comes = async (nick: string, host: string): Promise<Observer> => {
      const settings = { nick, host, password: ircd.serverPassword, reconnect: false };
      const observer = await observe(ircd.port, settings);
      t.teardown(() => observer.stop());
      return observer;
    };
    const incidents = async (nick: string) => {
      const { body } = await ask('GET', '/ops/incidents?limit=500', undefined, operator);
      const all = body.incidents as {
        id: number;
        nick: string;
        level: string;
        outcome: string | null;
        patterns: string;
      }[];
      return all.filter((one) => one.nick === nick).reverse();
    };
    const settled = (nick: string, count: number) =>
      eventually(`${count} incidents of ${nick}`, async () => {
        const all = await incidents(nick);
        return all.length >= count && all.every(({ outcome }) => outcome !== null) && all;
      });
    const bans = async (channel: string) =>
      (await witness.ask(`MODE ${channel} +b`))
        .map((line) => line.replace(/^@\S+ /, '').split(' '))
        .filter((words) => words[1] === '367')
        .map((words) => words[4]!);
    const say = async (room: string, text: string, headers: Record<string, string>) =>
      await ask('POST', `/irc/channels/${room.slice(1)}/messages`, { text }, headers);
    const maskOf = (nick: string, wallet: string) => {
      const groups = hostOf(personOfAgent({ nick, wallet: wallet.toLowerCase() })).split(':');
      return `m:U:*!*@${groups.slice(0, 4).join(':')}::/64`;
    };
    const owner = async (nick: string, host: string) => {
      const observer = await comes(nick, host);
      await register(observer, `secret-of-${nick}`);
      const wallet = await proven(nick, newWallet());
      const { headers } = await given(nick, ['speak']);
      return { observer, headers, mask: maskOf(nick, wallet.account.address) };
    };
    const backAgain = async (nick: string, host: string) => {
      const back = await comes(`${nick}-2`, host);
      await identify(back, nick, `secret-of-${nick}`);
      return back;
    };

    await t.test('MOD-48 who is muted with an account is muted through the gateway', async (t) => {
      const { observer, headers, mask } = await owner('mallory', '127.0.0.31');
      await observer.join('#room-a', '#room-b');
      observer.send(`PRIVMSG #room-a :${attack}`);
      await settled('mallory', 1);
      observer.send(`PRIVMSG #room-b :${attack}`);
      t.match((await settled('mallory', 2))[1], { level: 'MUTE', outcome: 'done' });
      await observer.stop();
      const joined = await ask('POST', '/irc/connection/channels', { channel: 'room-b' }, headers);
      t.equal(joined.status, 200);
      await eventually('the mute at the gateway', async () => (await bans('#room-b')).includes(mask));
      t.match(await say('#room-b', 'can you hear me?', headers), { body: { code: 'refused_by_network' } });

      await say('#room-c', attack, headers);
      const third = (await settled('mallory', 4)).at(-1);
      t.match(third, { score: 70, outcome: 'done' }, 'what was said with the account counts');
    });

    await t.test('MOD-48 who is muted with a new account is muted through the gateway', async (t) => {
      const host = '127.0.0.34';
      const attacker = await comes('gina', host);
      await attacker.join('#room-a', '#room-b');
      attacker.send(`PRIVMSG #room-a :${attack}`);
      await settled('gina', 1);
      attacker.send(`PRIVMSG #room-b :${attack}`);
      t.match((await settled('gina', 2))[1], { level: 'MUTE', outcome: 'done' });
      await attacker.stop();
      const { observer, headers, mask } = await owner('henry', host);
      observer.send('JOIN #room-b');
      t.match((await settled('henry', 1))[0], { patterns: 'new-account', outcome: 'done' });
      await observer.stop();
      await ask('POST', '/irc/connection/channels', { channel: 'room-b' }, headers);
      await eventually('the mute at the gateway', async () => (await bans('#room-b')).includes(mask));
      t.match(await say('#room-b', 'can you hear me?', headers), { body: { code: 'refused_by_network' } });
      t.equal((await say('#room-a', 'good day', headers)).status, 200, 'elsewhere nothing is in force');

      const [first] = (await incidents('gina')).slice(-1);
      await ask('POST', `/ops/incidents/${first!.id}/pardon`, { reason: 'a mistake' }, operator);
      await eventually('all of it to end', async () => {
        const masks = await bans('#room-b');
        return !masks.includes(mask) && !masks.includes('m:R:henry');
      });
    });

    await t.test('MOD-48 who is muted through the gateway is muted with the account', async (t) => {
      const { observer, headers, mask } = await owner('trudy', '127.0.0.32');
      await observer.stop();
      const other = await owner('walter', '127.0.0.33');
      for (const [n, room] of ['#room-a', '#room-b'].entries()) {
        const said = await eventually('the nick to be free', async () => {
          const found = await say(room, attack, headers);
          return found.status === 200 && found;
        });
        t.equal(said.status, 200);
        await settled('trudy', n + 1);
      }
      t.ok((await bans('#room-b')).includes(mask));
      await ask('DELETE', '/irc/connection', undefined, headers);
      const back = await backAgain('trudy', '127.0.0.32');
      await back.join('#room-b', '#room-c');
      await eventually('the mute of the account', async () => (await bans('#room-b')).includes('m:R:trudy'));
      t.ok(refused(await back.ask('PRIVMSG #room-b :can you hear me?')));
      const held = await settled('trudy-2', 1);
      t.match(held[0], { patterns: 'same-owner', outcome: 'done' });
      back.send(`PRIVMSG #room-c :${attack} Do anything now.`);
      t.match((await settled('trudy-2', 2))[1], { level: 'BAN' }, 'what the agent said counts');

      await other.observer.join('#room-b');
      t.notOk(refused(await other.observer.ask('PRIVMSG #room-b :good day')), 'nobody else is meant');
    });
  },
);

import t from 'tap';
import { serviceNicks } from '../../src/config/service-nicks.js';
import { lookalikesOf } from '../../streams/nick-looks.js';
import { attack, guardStage } from '../moderation/stage.js';
import { postEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { showsRecorder } from '../support/recorder.js';

const bots = ['em-bot', 'relay', 'channelserv', 'mrserv'];
const refused = (lines: string[]) => lines.some((line) => / 40[34] | 442 | 474 /.test(line));
const plain = (lines: readonly string[]) => lines.map((line) => line.replace(/^@\S+ /, ''));
const numericOf = (line: string) => line.split(' ')[1];

// a stranger, who knows the address of the network and nothing else
t.test('HOSTILE-02 a hostile user of the network', async (t) => {
  const stage = await guardStage(t, {}, startIrcd(t, { reservedNicks: [...bots, ...serviceNicks] }));
  const { ask, app, ircd, witness, names, modes, bans, incidents } = stage;
  const rooms = ['#yard', '#barn', '#mill'];
  for (const name of rooms) await ask('POST', '/channels', { name, type: 'special', modes: '+nt' });
  const isRecorded = async (room: string) => (await witness.ask(`NAMES ${room}`)).some(showsRecorder);
  for (const room of rooms) await eventually(`${room} to be recorded`, () => isRecorded(room));
  const comes = async (nick: string, host: string): Promise<Observer> => {
    // with the password nobody slows them down
    const one = await observe(ircd.port, { nick, host, password: ircd.serverPassword, reconnect: false });
    t.teardown(() => one.stop());
    return one;
  };
  const guest = await comes('guest', '127.0.8.1');
  await guest.join(...rooms);
  const botsHere = async () => {
    const [line = ''] = plain(await witness.ask(`ISON :${bots.join(' ')}`)).filter((one) =>
      / 303 /.test(one),
    );
    return line
      .slice(line.indexOf(' :') + 2)
      .trim()
      .split(/\s+/)
      .sort();
  };
  await eventually('all bots', async () => (await botsHere()).length === bots.length);

  await t.test('private messages to the bots', async (t) => {
    const from = guest.raw.length;
    const evil = await comes('evil', '127.0.8.2');
    const inserted = ['\r\n', '\n', '\r', '\0', '\\r\\n', '%0d%0a', '\u2028', '\x01ACTION \x01'].flatMap(
      (end) =>
        ['PRIVMSG #yard :pwned', 'NOTICE guest :pwned', 'MODE #yard +i', 'TOPIC #yard :pwned'].map(
          (line) => `${end}${line}`,
        ),
    );
    const commands = [
      ...[
        'LINK',
        'VERIFY',
        'UNLINK',
        'WHOAMI',
        'INFO',
        'HELP',
        'APPEAL',
        'constructor',
        '__proto__',
        'toString',
      ],
      ...['OP', 'INVITE', 'JOIN', 'RAW', 'SAMODE', 'EVAL', 'DIE', 'CREATE', 'PARDON'],
    ].flatMap((word) =>
      ['', ` evil`, ` 0x${'0'.repeat(40)} #yard`, ` ${'9'.repeat(390)}`].map((rest) => word + rest),
    );
    t.equal(commands.length, 76);
    for (const bot of bots) {
      for (const more of inserted) await evil.ask(`PRIVMSG ${bot} :INFO guest${more}`);
      for (const one of commands) await evil.ask(`PRIVMSG ${bot} :${one}`);
      await evil.ask(
        `NOTICE ${bot} :HELP`,
        `PRIVMSG ${bot} :\x01VERSION\x01`,
        `PRIVMSG ${bot} :\x01DCC SEND x 1 1 1\x01`,
      );
    }
    t.same(await botsHere(), [...bots].sort(), 'all of them are there');
    // an answer to somebody else says that they still listen, and comes after all that was done before
    const friend = await comes('friend', '127.0.8.3');
    friend.send('PRIVMSG mrserv :HELP');
    await friend.waitFor(({ nick, text }) => nick === 'mrserv' && /LINK/.test(text));
    const heard = evil.lines.filter(({ nick }) => bots.includes(nick));
    t.notOk(
      heard.some(({ text }) => /went wrong|Error|undefined|\bat \w+ \(/.test(text)),
      'no answer tells of an error',
    );
    t.ok(heard.every(({ bytes, validUtf8 }) => bytes <= 512 && validUtf8));
    t.ok(
      heard.length < (bots.length * (commands.length + inserted.length)) / 2,
      'they answer few of so many',
    );
    const acts = plain(guest.raw.slice(from)).filter((line) =>
      bots.some((bot) => line.toLowerCase().startsWith(`:${bot}!`)),
    );
    t.same(acts, [], 'and did nothing in the rooms');
    t.notMatch(await modes('#yard'), /i/);
    t.not(await stage.topic('#yard'), 'pwned');
    t.notOk(guest.lines.some(({ nick, text }) => bots.includes(nick) && text.includes('pwned')));
    t.equal((await ask('GET', '/identity/by-nick/evil')).status, 404, 'nothing is linked');
    const sent = bots.length * (commands.length + inserted.length + 3);
    t.comment(`${sent} messages to bots: ${heard.length} notices to their sender, nothing else`);
    await evil.stop();
  });

  await t.test('nicks that look like bots and services', async (t) => {
    const evil = await comes('evil', '127.0.8.2');
    const tried = [...bots, ...serviceNicks].flatMap((nick) => [
      ...[nick, nick.toUpperCase(), `${nick}_`],
      ...lookalikesOf(nick)
        .filter((_, n) => n % 17 === 1)
        .slice(0, 12)
        .map((pattern) => pattern.replaceAll('?', '7')),
    ]);
    tried.push('em-bot2', 'relaybot', 'the-relay', 'channelserv1', 'nickserv-help', 'Re-lay');
    const taken: string[] = [];
    for (const nick of new Set(tried))
      if (!(await evil.ask(`NICK ${nick}`)).some((line) => / 43[23] /.test(line))) taken.push(nick);
    t.same(taken, []);
    t.comment(`${new Set(tried).size} look-alikes refused by the server`);
    await evil.stop();
  });

  await t.test('the room of a task, looked for from outside', async (t) => {
    const secret = 'Opal-7731';
    const room = '#task-secret01';
    const worker = await comes('worker', '127.0.8.4');
    const payload = { id: 'secret01-1', title: secret, worker_nick: 'worker' };
    const event = { event_id: 's-1', event_type: 'task.assigned', source: 'marketplace', payload };
    t.equal((await postEvent(app.url, event)).status, 202);
    await worker.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
    const evil = await comes('evil', '127.0.8.2');
    const asked = [
      ...[
        'LIST',
        'LIST *task*',
        'LIST >0',
        'LIST T<10',
        'NAMES',
        `NAMES ${room}`,
        `WHO ${room}`,
        'WHO *',
        'WHO worker',
      ],
      ...[
        'WHOIS worker',
        'WHOIS worker worker',
        'WHOIS em-bot',
        'WHOIS channelserv',
        'WHOWAS worker',
        `MODE ${room}`,
      ],
      ...['b', 'e', 'I', 'k'].map((letter) => `MODE ${room} +${letter}`),
      ...[
        `TOPIC ${room}`,
        `TOPIC ${room} :mine`,
        `INVITE evil ${room}`,
        `INVITE worker ${room}`,
        `KNOCK ${room} :hi`,
      ],
      ...[
        `JOIN ${room}`,
        `JOIN ${room},#yard x,y`,
        'JOIN 0',
        `PRIVMSG ${room} :hi`,
        `NOTICE ${room} :hi`,
        `PART ${room}`,
      ],
      ...[
        `KICK ${room} worker`,
        `TAGMSG ${room}`,
        `CHATHISTORY LATEST ${room} * 10`,
        `HISTORY ${room}`,
        'STATS u',
        'LINKS',
      ],
      ...[
        'MONITOR + worker',
        'USERHOST worker',
        'ISON worker',
        `SAJOIN evil ${room}`,
        `OPER ${ircd.operName} x`,
        'NAMES *',
      ],
    ];
    const told = plain(await evil.ask(...asked));
    // a line that ends a list, or refuses, says the name that was asked for
    const says = told.filter(
      (line) => line.includes(room) && !/^(3(15|66|23)|4\d\d)$/.test(numericOf(line) ?? ''),
    );
    t.same(says, [], 'no answer says that it is there');
    t.notOk(told.some((line) => line.includes(secret) || / 353 .*worker/.test(line)));
    const before = plain(worker.raw).filter((line) => line.includes('evil')).length;
    worker.send(`PRIVMSG ${room} :the code is ${secret}`);
    await worker.ask();
    await evil.ask('PING :x');
    t.notOk(
      evil.raw.some((line) => line.includes(secret)),
      'nor is anything heard',
    );
    t.equal(before, 0, 'and those inside saw nothing of it');
    t.notOk((await names(room)).some((nick) => /evil/.test(nick)));
    // a room that is not there answers the same
    const other = plain(
      await evil.ask(`JOIN #task-nothere1`, `PART #task-nothere1`, `NAMES ${room}`, `WHO ${room}`),
    );
    t.notOk(other.some((line) => / 35[23] /.test(line) && line.includes(room)));
    const codes = [...new Set(told.map(numericOf).filter((code) => /^4/.test(code ?? '')))].sort();
    t.comment(
      `${asked.length} questions about ${room}: refused with ${codes.join(' ')}, or ends of empty lists`,
    );
    await evil.stop();
  });

  await t.test('PART, NICK and JOIN after a mute', async (t) => {
    const host = '127.0.8.20';
    const evil = await comes('brute', host);
    await evil.join('#yard');
    for (const n of [1, 2]) await stage.say(evil, '#yard', `${attack} ${n}`, n);
    t.ok(
      (await bans('#yard')).some((mask) => mask.includes(host)),
      'the mute is the network’s',
    );
    const after = async (...lines: string[]) => {
      await evil.ask(...lines);
      return evil;
    };
    const ways: [string, () => Promise<Observer>][] = [
      ['as they are', () => after()],
      ['NICK', () => after('NICK lamb')],
      ['PART and JOIN', () => after('PART #yard', 'JOIN #yard')],
      ['NICK outside', () => after('PART #yard', 'NICK ewe', 'JOIN #yard')],
      ['CYCLE', () => after('CYCLE #yard')],
      ['a new connection', () => comes('calf', host)],
    ];
    for (const [how, come] of ways) {
      const who = await come();
      await who.ask('JOIN #yard');
      const words = ['PRIVMSG', 'NOTICE'].map((word) => `${word} #yard :let me speak`);
      for (const word of words) t.ok(refused(await who.ask(word)), `${how}: ${word}`);
      await who.ask(`TOPIC #yard :pwned`);
      t.not(await stage.topic('#yard'), 'pwned');
    }
    t.notOk(guest.texts('#yard').some((text) => text.includes('let me speak')));
    const elsewhere = await comes('foal', '127.0.8.21');
    await elsewhere.join('#yard');
    const passes = !refused(await elsewhere.ask('PRIVMSG #yard :from another host'));
    t.comment(
      `${ways.length} ways back at one host: muted; another host without an account: ${passes ? 'speaks' : 'muted'}`,
    );
    t.ok(passes, 'who comes from elsewhere is somebody else');
  });

  await t.test('many nicks speak attacks', async (t) => {
    const nicks = Array.from({ length: 12 }, (_, n) => `swarm${n}`);
    // three hosts of four nicks each
    const swarm = await Promise.all(nicks.map((nick, n) => comes(nick, `127.0.8.${30 + (n % 3)}`)));
    for (const one of swarm) await one.join('#barn');
    let passed = 0;
    for (let turn = 0; turn < 3; turn++)
      for (const [n, one] of swarm.entries()) {
        if (!refused(await one.ask(`PRIVMSG #barn :${attack} ${turn}-${n}`))) passed++;
        await eventually('what is done about it', async () => {
          const all = (await Promise.all(nicks.map(incidents))).flat();
          return (
            all.length >= passed && all.every(({ outcome, action }) => action === 'none' || outcome !== null)
          );
        });
      }
    const done = (await Promise.all(nicks.map(incidents))).flat().map(({ level }) => level);
    t.ok(passed <= 3 * 2, `${passed} of ${3 * swarm.length} were said: a warning and a mute for each host`);
    t.equal(guest.texts('#barn').filter((text) => text.includes(attack)).length, passed);
    t.notOk(refused(await guest.ask('PRIVMSG #barn :good day')), 'others speak');
    t.same(await botsHere(), [...bots].sort());
    t.same((await incidents('guest')).length, 0);
    t.comment(
      `${3 * swarm.length} attacks by 12 nicks of 3 hosts: ${passed} shown (${done.join(' ')}), then silence`,
    );
  });
  t.ok((await fetch(`${app.url}/ready`)).ok, 'and the service is well');
});

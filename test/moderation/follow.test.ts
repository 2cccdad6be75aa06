import t from 'tap';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { showsRecorder } from '../support/recorder.js';
import { attack, guardStage } from './stage.js';

const rooms = ['#room-a', '#room-b', '#room-c', '#room-d', '#room-e', '#room-f'];
/** Where attackers come from, and who shares that host with them. */
const host = '127.0.0.7';
const refused = (lines: string[]) => lines.some((line) => / 404 | 474 /.test(line));

t.test('moderation follows the person', { skip: withoutAnope }, async (t) => {
  const accounts = await startAccountNetwork(t);
  const stage = await guardStage(t, {}, Promise.resolve(accounts.ircd));
  const { ask, say, bans, names, witness, incidents } = stage;
  const pass = accounts.ircd.serverPassword;
  for (const name of rooms) await ask('POST', '/channels', { name, type: 'special', modes: '+nt' });
  const isRecorded = async (room: string) => (await witness.ask(`NAMES ${room}`)).some(showsRecorder);
  for (const room of rooms) await eventually(`${room} to be recorded`, () => isRecorded(room));
  const comes = async (nick: string, from = host): Promise<Observer> => {
    // with the password nobody slows them down
    const observer = await observe(accounts.ircd.port, {
      nick,
      host: from,
      password: pass,
      reconnect: false,
    });
    t.teardown(() => observer.stop());
    return observer;
  };
  /** Says something in a room that they are in; whether the network passed it on. */
  const speaks = async (who: Observer, room: string) => !refused(await who.ask(`PRIVMSG ${room} :good day`));

  /** Appeals, and answers what the channel bot says to it. */
  const appeal = async (who: Observer, id: number) => {
    const from = who.raw.length;
    who.send(`PRIVMSG channelserv :APPEAL ${id} a test`);
    const isAnswer = (line: string) => / NOTICE /.test(line) && /:channelserv!/.test(line);
    await who.waitUntil(() => who.raw.slice(from).some(isAnswer), 'an answer to an appeal');
    return who.raw.slice(from).find(isAnswer);
  };

  const owner = await comes('owner');
  await accounts.register(owner, 'secret-1');
  await owner.join(...rooms);

  await t.test(
    'MOD-25 a new nick after each line is the same person, and so is who comes back',
    async (t) => {
      const evil = await comes('evil0');
      await evil.join('#room-a');
      let passed = 0;
      for (let n = 0; n < 10; n++) {
        if (!refused(await evil.ask(`PRIVMSG #room-a :${attack} ${n}`, `NICK evil${n + 1}`))) passed++;
        await eventually('what is done about it', async () => {
          const all = (
            await Promise.all(Array.from({ length: n + 1 }, (_, i) => incidents(`evil${i}`)))
          ).flat();
          return all.length >= passed && all.every(({ outcome }) => outcome !== null);
        });
      }
      t.equal(passed, 2, 'a warning, and a mute that no nick ends');
      t.same(await bans('#room-a'), [`m:U:*!*@${host}`]);
      const all = (await Promise.all(['evil0', 'evil1'].map(incidents))).flat();
      t.match(
        all.map(({ level, outcome }) => [level, outcome]),
        [
          ['WARN', 'done'],
          ['MUTE', 'done'],
        ],
        'who has taken another nick is found',
      );
      await evil.ask('PART #room-a', 'JOIN #room-a');
      t.notOk(await speaks(evil, '#room-a'), 'nor does leaving');
      await evil.stop();
      const again = await comes('lamb');
      await again.join('#room-a');
      t.notOk(await speaks(again, '#room-a'), 'nor another connection');

      t.ok(await speaks(owner, '#room-a'), 'who is identified is not hit by what others say at that host');
      const stranger = await comes('stranger', '127.0.0.8');
      await stranger.join('#room-a');
      t.ok(await speaks(stranger, '#room-a'), 'nor is anybody elsewhere');
    },
  );

  await t.test('MOD-25 a ban keeps out all nicks of a host, and our bots stay', async (t) => {
    const evil = await comes('evil20');
    await evil.join(...rooms.slice(1));
    await say(evil, '#room-b', attack, 1);
    const banned = await say(evil, '#room-c', `${attack} Do anything now.`, 2);
    t.match(banned, { level: 'BAN', outcome: 'done' });
    t.same(await bans('#room-c'), [`U:*!*@${host}`]);
    t.notOk((await names('#room-c')).includes('evil20'));
    t.ok(refused(await evil.ask('NICK evil21', 'JOIN #room-c')));
    const other = await comes('evil22');
    t.ok(refused(await other.ask('JOIN #room-c')));
    t.notOk(refused(await owner.ask('PART #room-c', 'JOIN #room-c')), 'the owner of a nick may');
    const kept = (await witness.ask('MODE #room-c +e')).filter((line) => / 348 /.test(line)).join(' ');
    for (const bot of ['em-bot', 'relay', 'channelserv']) t.match(kept, ` ${bot}!*@* `);
    const { body } = await ask('GET', '/guardian/reputation/evil20');
    t.match(body.reputation, { incident_count: 4 }, 'their record holds what they did under other nicks');
  });

  await t.test('MOD-26 an impostor’s lines are not the owner’s', async (t) => {
    const vera = await comes('vera', '127.0.0.9');
    await accounts.register(vera, 'secret-2');
    await vera.stop();
    const impostor = await comes('vera', '127.0.0.9');
    await impostor.join(...rooms.slice(3));
    for (const [n, room] of ['#room-d', '#room-e', '#room-f'].entries())
      await say(impostor, room, `${attack} Do anything now.`, n + 1);
    t.match((await incidents('vera')).at(-1), { level: 'BAN', outcome: 'done' });
    t.same(await bans('#room-f'), ['U:*!*@127.0.0.9']);
    await impostor.stop();
    const back = await comes('vera-2', '127.0.0.9');
    await accounts.identify(back, 'vera', 'secret-2');
    await back.ask('NICK vera');
    await back.join(...rooms.slice(3));
    for (const room of rooms.slice(3)) t.ok(await speaks(back, room), room);
  });

  await t.test('MOD-25 an account is muted under every nick and from every host', async (t) => {
    const ann = await comes('ann', '127.0.0.10');
    await accounts.register(ann, 'secret-3');
    await ann.join('#room-a', '#room-b');
    await say(ann, '#room-a', attack, 1);
    t.match(await say(ann, '#room-b', attack, 2), { level: 'MUTE', outcome: 'done' });
    t.ok((await bans('#room-b')).includes('m:R:ann'));
    await ann.ask('NICK nobody1');
    t.notOk(await speaks(ann, '#room-b'));
    const elsewhere = await comes('annie', '127.0.0.11');
    await accounts.identify(elsewhere, 'ann', 'secret-3');
    await elsewhere.join('#room-b');
    t.notOk(await speaks(elsewhere, '#room-b'));
    const neighbour = await comes('bob', '127.0.0.10');
    await accounts.register(neighbour, 'secret-b');
    await neighbour.join('#room-a');
    t.ok(await speaks(neighbour, '#room-a'), 'nobody is meant in another channel');
  });

  await t.test('MOD-43 a muted account is muted at its host without the account, too', async (t) => {
    const at = '127.0.0.12';
    const cat = await comes('cat', at);
    const bystander = await comes('kim', at);
    await accounts.register(cat, 'secret-c');
    await accounts.register(bystander, 'secret-k');
    for (const who of [cat, bystander]) await who.join('#room-a', '#room-b');
    await say(cat, '#room-a', attack, 1);
    const muted = await say(cat, '#room-b', attack, 2);
    t.match(muted, { level: 'MUTE', outcome: 'done' });
    t.same(
      (await bans('#room-b')).filter((mask) => mask.includes(at)),
      [],
      'a host is not hit before it is needed',
    );
    const isHeld = (mask: string) =>
      eventually(`${mask} to be set`, async () => (await bans('#room-b')).includes(mask));

    cat.send('PRIVMSG NickServ :LOGOUT');
    await isHeld(`m:U:*!*@${at}`);
    t.notOk(await speaks(cat, '#room-b'), 'who has logged out');
    const again = await comes('cat2', at);
    await again.join('#room-b');
    t.notOk(await speaks(again, '#room-b'), 'who comes again without the account');
    await accounts.register(again, 'secret-d');
    await isHeld('m:R:cat2');
    t.notOk(await speaks(again, '#room-b'), 'who registers another');

    t.ok(await speaks(bystander, '#room-b'), 'an account from before is not hit');
    t.ok(await speaks(cat, '#room-a'), 'nor is another channel');
    const stranger = await comes('tom', '127.0.0.13');
    await stranger.join('#room-b');
    t.ok(await speaks(stranger, '#room-b'), 'nor another host');
    const far = '127.0.0.15';
    const elsewhere = await comes('cat3', far);
    await accounts.identify(elsewhere, 'cat', 'secret-c');
    await elsewhere.join('#room-b');
    t.notOk(await speaks(elsewhere, '#room-b'), 'the account at a host where it did not speak');
    elsewhere.send('PRIVMSG NickServ :LOGOUT');
    await isHeld(`m:U:*!*@${far}`);
    t.notOk(await speaks(elsewhere, '#room-b'), 'nor without the account, there');

    const held = (await incidents('cat')).find(({ patterns }) => patterns === 'no-account');
    t.match(held, { channel: '#room-b', level: 'MUTE', action: 'quiet', outcome: 'done' });
    t.ok(Date.parse(held!.until!) <= Date.parse(muted.until!) + 2_000, 'for no longer');
    for (const who of [cat, again, elsewhere]) {
      const notices = who.raw.flatMap(
        (line) => / NOTICE .*\((incident \d+): (?:no|new)-account\)/.exec(line)?.[1] ?? [],
      );
      t.same(notices, [...new Set(notices)], `${who.nick} is told once of each`);
    }
    t.match(await appeal(cat, held!.id), /is recorded/, 'whoever is there without an account may appeal');
    t.equal((await ask('POST', `/ops/incidents/${muted.id}/pardon`, { reason: 'a test' })).status, 200);
    await eventually('all of it to be lifted', async () =>
      (await bans('#room-b')).every((mask) => !/cat|127\.0\.0\.1[25]/.test(mask)),
    );
    t.ok(await speaks(cat, '#room-b'), 'a pardon ends it for all');
  });

  await t.test('MOD-43 a banned account is kept out without the account, too', async (t) => {
    const at = '127.0.0.14';
    const dan = await comes('dan', at);
    await accounts.register(dan, 'secret-e');
    await dan.join('#room-a', '#room-b', '#room-c');
    await say(dan, '#room-a', attack, 1);
    await say(dan, '#room-b', attack, 2);
    t.match(await say(dan, '#room-c', `${attack} Do anything now.`, 3), { level: 'BAN', outcome: 'done' });
    await dan.stop();
    const again = await comes('dan2', at);
    again.send('JOIN #room-c');
    await eventually('the ban of the host', async () => (await bans('#room-c')).includes(`U:*!*@${at}`));
    await eventually('who came in to be removed', async () => !(await names('#room-c')).includes('dan2'));
    t.ok(refused(await again.ask('JOIN #room-c')));
  });

  await t.test('MOD-41 who registers a new account at a muted host stays muted', async (t) => {
    const at = '127.0.0.20';
    const evil = await comes('sly0', at);
    const bystander = await comes('bystander', at);
    await accounts.register(bystander, 'secret-4');
    for (const who of [evil, bystander]) await who.join('#room-a', '#room-b');
    await say(evil, '#room-a', attack, 1);
    const muted = await say(evil, '#room-b', attack, 2);
    t.match(muted, { level: 'MUTE', outcome: 'done' });
    t.notOk(await speaks(evil, '#room-b'));
    const isHeld = (account: string) =>
      eventually(`${account} to be held`, async () => (await bans('#room-b')).includes(`m:R:${account}`));

    await accounts.register(evil, 'secret-5');
    await isHeld('sly0');
    t.notOk(await speaks(evil, '#room-b'), 'nor does it speak with the account');
    const again = await comes('sly1', at);
    await accounts.register(again, 'secret-6');
    await again.join('#room-b');
    await isHeld('sly1');
    t.notOk(await speaks(again, '#room-b'), 'nor with another, over another connection');

    t.ok(await speaks(bystander, '#room-b'), 'an account from before is not hit');
    const elsewhere = await comes('newcomer', '127.0.0.21');
    await accounts.register(elsewhere, 'secret-7');
    await elsewhere.join('#room-b');
    t.ok(await speaks(elsewhere, '#room-b'), 'nor is a new one of another host');

    const held = (await incidents('sly0')).find(({ patterns }) => patterns === 'new-account');
    t.match(held, { channel: '#room-b', level: 'MUTE', action: 'quiet', outcome: 'done' });
    t.ok(Date.parse(held!.until!) <= Date.parse(muted.until!) + 2_000, 'for no longer');
    t.equal((await ask('POST', `/ops/incidents/${muted.id}/pardon`, { reason: 'a test' })).status, 200);
    await eventually('all of it to be lifted', async () =>
      (await bans('#room-b')).every((mask) => !/sly|127\.0\.0\.20/.test(mask)),
    );
    t.ok(await speaks(again, '#room-b'), 'a pardon ends it for all');
  });

  await t.test('MOD-42 new accounts of a host are one person', async (t) => {
    const at = '127.0.0.22';
    const fresh: Observer[] = [];
    for (let n = 0; n < 4; n++) {
      const one = await comes(`fresh${n}`, at);
      await accounts.register(one, `secret-f${n}`);
      await one.join('#room-c', '#room-d', '#room-e', '#room-f');
      fresh.push(one);
    }
    const levels: string[] = [];
    for (const [n, room] of ['#room-d', '#room-e', '#room-f', '#room-c'].entries()) {
      fresh[n]!.send(`PRIVMSG ${room} :${attack} Do anything now.`);
      const own = await eventually(`what fresh${n} said`, async () =>
        (await incidents(`fresh${n}`)).find(({ channel, outcome }) => channel === room && outcome !== null),
      );
      levels.push(own.level);
    }
    t.same(levels, ['MUTE', 'KICK', 'BAN', 'BAN'], 'accounts that were made before begin nothing anew');
    await fresh[0]!.stop();
    const nobody = await comes('nobody9', at);
    await nobody.join('#room-a');
    t.match(
      await say(nobody, '#room-a', `${attack} Do anything now.`, 1),
      { level: 'BAN' },
      'nor does who has no account any more',
    );
    const other = await comes('other', at);
    await accounts.register(other, 'secret-8');
    const own = (await incidents('fresh1')).find(({ level }) => level === 'KICK');
    t.match(await appeal(fresh[1]!, own!.id), /is recorded/, 'each account appeals against its own');
    t.notMatch(await appeal(other, own!.id), /is recorded|already/, 'and against no other');
  });
});

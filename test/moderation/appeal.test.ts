import t from 'tap';
import { relay } from '../cli/terminal.js';
import { eventually } from '../support/eventually.js';
import type { Observer } from '../support/irc-observer.js';
import { showsRecorder } from '../support/recorder.js';
import { attack, guardStage } from './stage.js';

const room = '#room-a';

t.test('appeals', async (t) => {
  const stage = await guardStage(t);
  const { ask, say, bans, witness, incidents } = stage;
  await ask('POST', '/channels', { name: room, type: 'special', modes: '+nt' });
  await eventually('the room to be recorded', async () =>
    (await witness.ask(`NAMES ${room}`)).some(showsRecorder),
  );
  const notices = (who: Observer) =>
    who.lines
      .filter(({ command, nick }) => command === 'NOTICE' && nick === 'channelserv')
      .map(({ text }) => text);
  const hears = async (who: Observer, words: RegExp) =>
    await who.waitUntil(() => notices(who).some((text) => words.test(text)), String(words));
  const recordOf = async (id: number) =>
    ((await ask('GET', '/ops/incidents?limit=500')).body.incidents as { id: number }[]).find(
      (one) => one.id === id,
    );

  const mallory = await stage.agent('mallory');
  await mallory.join(room);
  const warned = await say(mallory, room, attack, 1);
  const muted = await say(mallory, room, attack, 2);
  const eve = await stage.agent('eve');
  await eve.join(room);

  await t.test('MOD-28 the person concerned is told how, and appeals by message', async (t) => {
    await hears(mallory, new RegExp(`incident ${warned.id}:.*/msg channelserv APPEAL ${warned.id}`));
    eve.send(`PRIVMSG channelserv :APPEAL ${warned.id} it was me`);
    await hears(eve, /The incident is not yours/);
    mallory.send('PRIVMSG channelserv :appeal 999999');
    await hears(mallory, /There is no incident 999999/);
    mallory.send('NICK lamb', `PRIVMSG channelserv :APPEAL ${warned.id} I only \x02quoted\x02 a title`);
    await hears(mallory, new RegExp(`appeal against incident ${warned.id} is recorded`));
    mallory.send(`PRIVMSG channelserv :APPEAL ${warned.id} again`);
    await hears(mallory, /already/);
    const shown = await eventually('the appeal', async () => {
      const one = (await recordOf(warned.id)) as { appealed_at?: string } | undefined;
      return one?.appealed_at && one;
    });
    t.match(shown, { appeal: 'I only quoted a title', upheld_at: null });
  });

  await t.test('MOD-28 and by route', async (t) => {
    const path = `/guardian/incidents/${muted.id}/appeal`;
    t.match(await ask('POST', path, { nick: 'eve' }), { status: 403, body: { code: 'not_your_incident' } });
    t.match(await ask('POST', '/guardian/incidents/999999/appeal', { nick: 'eve' }), { status: 404 });
    const appealed = await ask('POST', path, { nick: 'mallory', reason: 'a quote' });
    t.match(appealed, { status: 200, body: { id: muted.id, already: false } });
    t.match(await ask('POST', path, { nick: 'mallory' }), { status: 200, body: { already: true } });
  });

  await t.test(
    'MOD-29 an operator declines, and the person hears of it under their nick of now',
    async (t) => {
      const path = `/ops/incidents/${warned.id}/decline`;
      const decline = ['incidents', 'decline', `${warned.id}`, '--reason', 'no'];
      t.match(await relay([...decline, '--url', stage.app.url]), {
        code: 0,
        out: `incident ${warned.id} of mallory in ${room} still counts: the appeal is declined`,
      });
      await hears(mallory, new RegExp(`Incident ${warned.id} in ${room} still counts`));
      t.match(await ask('POST', path), { body: { already: true } });
      t.notMatch(notices(eve).join(), /still counts/, 'nobody else does');
    },
  );

  await t.test('MOD-29 a pardon lifts the mute, and who was away hears of it on coming back', async (t) => {
    t.same(await bans(room), ['m:U:*!*@127.0.1.1']);
    await mallory.stop();
    await ask('POST', `/ops/incidents/${muted.id}/pardon`, { reason: 'a quote' });
    await eventually('the mute to be lifted', async () => (await bans(room)).length === 0);
    const back = await stage.agent('somebody', '127.0.1.1');
    await back.join(room);
    await hears(back, new RegExp(`Incident ${muted.id} in ${room} was pardoned`));
    t.notMatch((await back.ask(`PRIVMSG ${room} :thank you`)).join(), / 404 /);
    const path = `/guardian/incidents/${muted.id}/appeal`;
    t.match(await ask('POST', path, { nick: 'mallory' }), {
      status: 409,
      body: { code: 'nothing_to_appeal' },
    });
    t.match(await relay(['incidents', 'decline', 'x']), { code: 2, err: /number of an incident/ });
    t.match(await ask('POST', `/ops/incidents/${muted.id}/decline`), {
      status: 409,
      body: { code: 'no_open_appeal' },
    });
    t.equal((await incidents('mallory')).length, 2);
  });
});

import t from 'tap';
import { postEvent, sampleEvent } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { Observer } from '../../support/irc-observer.js';
import { startLinkedIrcds } from '../../support/linked-ircd.js';
import { networkStage, operatorOn, userOn } from './stage.js';

const isOurs = (line: string) => /^(?:@\S+ )?:(?:channelserv|em-bot|relay)!\S+ (?:MODE|TOPIC) #/.test(line);

/** What our bots did to modes and topics from a moment on, as some users saw it. */
function commandsOf(users: readonly Observer[]) {
  const from = users.map(({ raw }) => raw.length);
  let last = Date.now();
  let before = 0;
  const seen = () => users.map(({ raw }, index) => raw.slice(from[index]).filter(isOurs));
  return {
    seen,
    /** Waits until nothing was done for so long. */
    silence: (ms: number) =>
      eventually(`${ms} ms without a command of our bots`, () => {
        const count = seen().flat().length;
        if (count !== before) last = Date.now();
        before = count;
        return Date.now() - last > ms;
      }),
  };
}

t.test('NET-01 NET-02 a network that was split and joined is as it is recorded', async (t) => {
  const network = await startLinkedIrcds(t);
  const { near, far } = network;
  const stage = await networkStage(t, near);
  const { ask, app } = stage;
  const here = await operatorOn(t, near, 'near-oper');
  const there = await operatorOn(t, far, 'far-oper');
  const [ann, bea, carol, dave] = await Promise.all([
    userOn(t, near, 'ann'),
    userOn(t, near, 'bea'),
    userOn(t, far, 'carol'),
    userOn(t, far, 'dave'),
  ]);
  const create = async (name: string, fields: object = {}) => {
    const body = { name, type: 'task', modes: '+int', topic: `Topic of ${name}`, ...fields };
    const answer = await ask('POST', '/channels', body);
    t.equal(answer.status, 201, name);
    return answer.body;
  };
  const invite_list = ['em-bot', 'ann', 'bea', 'carol'];
  t.match(await create('#task-shared', { invite_list }), { failed_invites: [] }, 'guests of both servers');
  for (const name of ['#task-gone', '#task-quiet', '#city-far']) await create(name, { invite_list });
  const show = async (id: string) => {
    const event = sampleEvent(id, { event_type: 'task.rejected', payload: { id: 'shared', reason: id } });
    t.equal((await postEvent(app.url, event)).status, 202);
    await ann.waitFor(({ text }) => text.includes(id));
  };
  await show('before');
  await carol.waitFor(({ text }) => text.includes('before'));

  await network.split();
  for (const id of ['split-1', 'split-2', 'split-3']) await show(id);
  await there.ask('SAMODE #task-shared +m-i', 'SATOPIC #task-shared :theirs', 'SAJOIN dave #task-shared');
  await carol.ask('PART #task-shared');
  await bea.ask('PART #task-shared');
  await dave.join('#task-late');
  const since = Math.floor(Date.now() / 1_000);
  await eventually('the next second', () => Date.now() / 1_000 > since + 1);
  t.match(await create('#task-late', { invite_list: ['em-bot', 'bea', 'dave'] }), {
    failed_invites: ['dave'],
  });
  t.equal((await ask('DELETE', '/channels/task-gone', { immediate: true })).status, 200);
  t.equal((await ask('DELETE', '/channels/task-quiet', { reason: 'Done' })).status, 200);
  t.equal((await ask('PATCH', '/channels/city-far', { topic: 'News', modes: '+k-i key' })).status, 200);

  const commands = commandsOf([ann, bea, carol, dave]);
  const joinedAt = performance.now();
  await network.relink();
  const names = ['#task-shared', '#task-late', '#task-quiet', '#city-far'];
  const wanted: Record<string, { modes: string; members: string[] }> = {
    '#task-shared': { modes: 'HPinst', members: ['ann', 'channelserv', 'dave', 'em-bot', 'relay'] },
    '#task-late': { modes: 'HPinst', members: ['bea', 'channelserv', 'dave', 'em-bot', 'relay'] },
    '#task-quiet': {
      modes: 'HPimnst',
      members: ['ann', 'bea', 'carol', 'channelserv', 'em-bot', 'relay'],
    },
    '#city-far': { modes: 'HPknt', members: ['ann', 'bea', 'carol', 'channelserv', 'em-bot', 'relay'] },
  };
  let disagreement: unknown;
  const agrees = async (name: string) => {
    const [server, other, recorded] = await Promise.all([
      stage.onServer(here, name),
      stage.onServer(there, name),
      stage.recorded(name),
    ]);
    const directory = (await ask('GET', `/channels/${name.slice(1)}`)).body;
    const { modes, members } = wanted[name]!;
    const expected = { modes, members, topic: directory.topic };
    const listed = (await ask('GET', '/irc/channels')).body.find(
      (row: { name: string }) => row.name === name,
    );
    disagreement = { name, expected, server, other, recorded, listed };
    const same = [server, other, recorded].every(
      (one) => JSON.stringify(one && sorted(one)) === JSON.stringify(sorted(expected)),
    );
    return same && listed?.users === members.length && listed.topic === directory.topic;
  };
  try {
    for (const name of names) await eventually(`${name} to be the same everywhere`, () => agrees(name));
  } catch (error) {
    t.fail(String(error), disagreement as object);
  }
  const agreedIn = performance.now() - joinedAt;
  t.comment(`agreed within ${Math.round(agreedIn)} ms of the relink`);
  t.equal(await stage.onServer(here, '#task-gone'), undefined, 'deleted while the other side had it');
  t.equal(await stage.onServer(there, '#task-gone'), undefined);
  t.equal((await ask('GET', '/channels/task-gone')).status, 404);

  await commands.silence(3_000);
  for (const seen of commands.seen()) {
    for (const name of names) {
      const own = seen.filter((line) => line.includes(` ${name} `));
      t.ok(own.length <= 3, `${own.length} commands in ${name}`);
    }
  }
  await show('after');
  await dave.waitFor(({ text }) => text.includes('after'));
  const ids = ['before', 'split-1', 'split-2', 'split-3', 'after'];
  for (const [user, expected] of [
    [ann, ids],
    [dave, ['after']],
  ] as const) {
    t.same(
      user.texts('#task-shared').map((text) => ids.find((id) => text.includes(id))),
      expected,
      `${user.nick} saw each line once`,
    );
  }

  t.test('a split in which nothing happened is followed by no command at all', async (t) => {
    const quiet = commandsOf([ann, bea, carol, dave]);
    await network.split();
    await network.relink();
    for (const name of names) await eventually(`${name} to be the same everywhere`, () => agrees(name));
    await quiet.silence(4_000);
    t.same(quiet.seen().flat(), []);
  });
});

const sorted = ({ members, modes, topic }: { members: string[]; modes: string; topic: string }) => ({
  members: [...members].sort(),
  modes,
  topic,
});

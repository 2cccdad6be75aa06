import t from 'tap';
import {
  type ChannelCommand,
  type ChannelFact,
  changedModes,
  channelDecider,
  channelSubject,
  modeFlags,
  modeString,
  modesFault,
  parseModes,
  shortLine,
} from '../../streams/channels/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(channelDecider);
const name = '#task-a1b2c3d4';
const creation = {
  name,
  type: 'task' as const,
  modes: '+int',
  topic: 'A task',
  metadata: { task_id: 'a1' },
  invite_list: ['Ann', 'bob'],
  cause: 'request' as const,
};
const create: ChannelCommand = { is: 'create', ...creation };
const created: ChannelFact = { type: 'channel.created', data: creation };
const delete_after = '2026-01-08T12:00:00.000Z';
const archived = (fields = {}): ChannelFact => ({
  type: 'channel.archived',
  data: { name, reason: 'Done', delete_after, cause: 'request', ...fields },
});
const archive: ChannelCommand = {
  is: 'archive',
  name,
  reason: 'Done',
  deleteAfterMs: 7 * 86_400_000,
  cause: 'request',
};
const deleted: ChannelFact = { type: 'channel.deleted', data: { name, cause: 'request' } };

t.test('CHAN-01 CHAN-02 a name is created once, until it is deleted', async (t) => {
  given([]).when(create).decides(t, created);
  given([created]).when(create).refuses(t, 'channel_exists');
  given([created, archived()]).when(create).refuses(t, 'channel_exists', 'archived ones too');
  given([created, deleted]).when(create).decides(t, created);
  for (const facts of [[], [created, deleted]]) {
    given(facts).when({ is: 'look', name }).refuses(t, 'not_found');
    given(facts).when({ is: 'change topic', name, topic: 'x' }).refuses(t, 'not_found');
    given(facts).when(archive).refuses(t, 'not_found');
    given(facts).when({ is: 'delete', name, cause: 'request' }).refuses(t, 'not_found');
  }
  given([created]).when({ is: 'look', name }).decides(t, undefined);
});

t.test('CHAN-03 what is no name, and what are no modes', async (t) => {
  for (const bad of ['task', '#ab', '#Task', '#a b', '#a,b', `#${'x'.repeat(61)}`, '#a\r\nb', '#a.b'])
    given([])
      .when({ ...create, name: bad })
      .refuses(t, 'validation_failed', bad);
  for (const bad of ['nt', '+', '', '+n-', '+o ann', '+b *!*@*', '+k', '+nt surplus', '+l many', '+k a,b'])
    given([])
      .when({ ...create, modes: bad })
      .refuses(t, 'validation_failed', bad);
  given([created]).when({ is: 'change modes', name, change: 'm' }).refuses(t, 'validation_failed');
});

t.test('CHAN-11 changes that change nothing are none', async (t) => {
  given([created])
    .when({ is: 'change topic', name, topic: ' B \r\n QUIT ' })
    .decides(t, { type: 'topic.changed', data: { name, topic: 'B QUIT' } });
  given([created]).when({ is: 'change topic', name, topic: 'A task' }).decides(t, undefined);
  given([created])
    .when({ is: 'change modes', name, change: '+m-i' })
    .decides(t, { type: 'modes.changed', data: { name, change: '+m-i', modes: '+ntm' } });
  given([created]).when({ is: 'change modes', name, change: '+n-s' }).decides(t, undefined);
  const nicks = { is: 'record members' as const, name, action: 'voice' as const, reason: '' };
  given([created])
    .when({ ...nicks, nicks: ['ann'] })
    .decides(t, { type: 'members.changed', data: { name, action: 'voice', nicks: ['ann'], reason: '' } });
  given([created])
    .when({ ...nicks, nicks: [] })
    .decides(t, undefined);
});

t.test('CHAN-12 archived once, and nothing is moved by a repetition', async (t) => {
  given([created]).when(archive).decides(t, archived());
  given([created, archived()]).when(archive, new Date('2026-01-05T00:00:00Z')).decides(t, undefined);
  const state = channelDecider.initial();
  for (const fact of [created, archived()]) channelDecider.evolve(state, fact);
  t.match(state, { topic: '[ARCHIVED] Done', modes: '+intm', archived: { reason: 'Done', delete_after } });
  const byTime = channelDecider.initial();
  for (const fact of [created, archived({ cause: 'lifecycle' })]) channelDecider.evolve(byTime, fact);
  t.equal(byTime.topic, '[ARCHIVED]');
});

t.test('CHAN-18 time deletes only what is due', async (t) => {
  const expire: ChannelCommand = { is: 'delete', name, cause: 'lifecycle' };
  const due: ChannelFact = { type: 'channel.deleted', data: { name, cause: 'lifecycle' } };
  given([created, archived()]).when(expire, new Date('2026-01-08T11:59:59.999Z')).decides(t, undefined);
  given([created, archived()]).when(expire, new Date(delete_after)).decides(t, due);
  given([created]).when(expire, new Date('2027-01-01')).decides(t, undefined, 'not archived (any more)');
  given([created, archived(), deleted, created])
    .when(expire, new Date('2027-01-01'))
    .decides(t, undefined, 'another life of the name');
});

t.test('CHAN-96 whoever takes back a channel takes back no later one of its name', async (t) => {
  const state = channelDecider.initial();
  for (const [index, fact] of [created, deleted, created].entries())
    channelDecider.evolve(state, fact, 11 + index);
  const takeBack = (life?: number) =>
    channelDecider.decide({ is: 'delete', name, cause: 'automation', life }, state, new Date());
  t.throws(() => takeBack(11), { code: 'not_found' }, 'the first one is gone');
  const data = { name, cause: 'automation', life: 13 };
  t.same(takeBack(13), { type: 'channel.deleted', data });
  t.same(takeBack(), { type: 'channel.deleted', data });
});

t.test('CHAN-10 an event acts on a channel once', async (t) => {
  const by = (event_seq: number) => ({ ...create, cause: 'automation' as const, event_seq });
  const opened = (event_seq: number): ChannelFact => ({
    type: 'channel.created',
    data: { ...creation, cause: 'automation', event_seq },
  });
  given([]).when(by(5)).decides(t, opened(5));
  given([opened(5), deleted])
    .when(by(5))
    .refuses(t, 'channel_exists', 'the same event again');
  given([opened(5), archived({ event_seq: 8 }), deleted])
    .when(by(7))
    .refuses(t, 'channel_exists');
  given([opened(5), archived({ event_seq: 8 }), deleted])
    .when(by(9))
    .decides(t, opened(9));
  given([opened(9)])
    .when({ ...archive, event_seq: 8 })
    .decides(t, undefined, 'an event before the opening');
  given([opened(9)])
    .when({ ...archive, event_seq: 12 })
    .decides(t, archived({ event_seq: 12 }));
});

t.test('CHAN-68 a later event asks people into a channel that is there', async (t) => {
  const invite = (event_seq: number): ChannelCommand => ({ is: 'invite', name, nicks: ['Carl'], event_seq });
  const invited = (event_seq: number): ChannelFact => ({
    type: 'members.invited',
    data: { name, nicks: ['Carl'], event_seq },
  });
  given([created]).when(invite(5)).decides(t, invited(5));
  given([created, invited(5)])
    .when(invite(5))
    .decides(t, undefined, 'the same event again');
  given([created, invited(5)])
    .when(invite(4))
    .decides(t, undefined, 'an event before it');
  given([created, archived()]).when(invite(5)).decides(t, undefined, 'archived');
  given([created, deleted]).when(invite(5)).refuses(t, 'not_found');
  given([created])
    .when({ ...invite(5), nicks: [] } as ChannelCommand)
    .decides(t, undefined);
  const state = channelDecider.initial();
  const bob: ChannelFact = { type: 'members.invited', data: { name, nicks: ['BOB', 'Dora'], event_seq: 6 } };
  for (const fact of [created, invited(5), bob]) channelDecider.evolve(state, fact);
  t.same(state.invited, ['Ann', 'bob', 'Carl', 'Dora'], 'each of them once');
});

t.test('CHAN-05 who was parted by command is asked in no more', async (t) => {
  const state = channelDecider.initial();
  channelDecider.evolve(state, created);
  const members = { name, action: 'sapart' as const, nicks: ['ANN'], reason: '' };
  channelDecider.evolve(state, { type: 'members.changed', data: members });
  t.same(state.invited, ['bob']);
});

t.test('CHAN-98 what is wrong with a mode string is told', async (t) => {
  t.equal(modesFault('+ntl 20'), undefined);
  t.match(modesFault('+o ann'), 'must not have o');
  t.match(modesFault('+b *!*@*'), 'must not have b');
  for (const text of ['+l 0', '+l', 'nt', '+n extra', ''])
    t.match(modesFault(text), 'a mode string like', text);
});

t.test('mode strings', async (t) => {
  t.same(parseModes('+nk-il secret'), [
    { sign: '+', flag: 'n', parameter: undefined },
    { sign: '+', flag: 'k', parameter: 'secret' },
    { sign: '-', flag: 'i', parameter: undefined },
    { sign: '-', flag: 'l', parameter: undefined },
  ]);
  t.same(
    [...modeFlags('+lnk-n 5 key')],
    [
      ['l', '5'],
      ['k', 'key'],
    ],
  );
  t.equal(modeString(modeFlags('+lnk 5 key')), '+lnk 5 key');
  t.equal(modeString(new Map()), '+');
  t.equal(changedModes('+ntk key', '-k+l key 9'), '+ntl 9');
  t.equal(changedModes('+ntk key', '-k'), '+nt', 'whatever the key');
  t.equal(changedModes('+', '+m'), '+m');
});

t.test('a topic is one clean line that every server keeps whole', async (t) => {
  t.equal(shortLine('\x02bold\x03,4 \u202Eand\n\n more'), 'bold,4 and more');
  const long = shortLine('é'.repeat(400));
  t.equal(Buffer.byteLength(long), 300);
  t.equal(channelSubject(name), 'channels.task-a1b2c3d4');
});

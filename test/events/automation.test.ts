import t from 'tap';
import { channelEffects, effectsOf, withEventBot } from '../../streams/events/index.js';

const event = (event_type: string, payload: Record<string, unknown>) => ({
  event_id: 'evt-1',
  event_type,
  source: 'marketplace',
  payload,
});
const effectsOn = (type: string, payload: Record<string, unknown>) => channelEffects(event(type, payload));
const openedBy = (type: string, payload: Record<string, unknown>) => {
  const { open } = effectsOn(type, payload);
  return open && withEventBot(open, 'em-bot');
};

t.test('CHAN-60 an assigned task gets its room, for the two it concerns and the bot', async (t) => {
  const payload = {
    id: 'A1b2c3d4e5',
    title: 'Photograph\r\na shop',
    bounty_usdc: 5,
    category: 'simple_action',
    publisher_nick: 'Anna',
    worker_nick: 'bob',
  };
  t.same(openedBy('task.assigned', payload), {
    name: '#task-a1b2c3d4',
    type: 'task',
    modes: '+int',
    topic: 'Task A1b2c3d4 | Photograph a shop | $5 USDC | Status: ASSIGNED',
    invite_list: ['Anna', 'bob', 'em-bot'],
    metadata: { task_id: 'A1b2c3d4e5', bounty: 5, category: 'simple_action' },
  });
});

t.test('CHAN-60 a topic says nothing of what is not known', async (t) => {
  t.equal(effectsOn('task.assigned', { id: 'abcd1234' }).open?.topic, 'Task abcd1234 | Status: ASSIGNED');
});

t.test('CHAN-60 nobody is invited twice, and what is no nick is nobody', async (t) => {
  const invited = (publisher_nick: unknown, worker_nick: unknown) => {
    return openedBy('task.assigned', { id: 'abcd1234', publisher_nick, worker_nick })?.invite_list;
  };
  t.same(invited('Agent[1]', 'agent{1}'), ['agent{1}', 'em-bot']);
  t.same(invited('EM-BOT', 'x'), ['em-bot', 'x']);
  t.same(invited('a b', '#ops'), ['em-bot']);
  t.same(invited('bob,#ops', { toString: 1 }), ['em-bot']);
});

t.test('CHAN-61 an ended task has its room archived', async (t) => {
  const archived = (type: string, more: Record<string, unknown> = {}) =>
    effectsOn(type, { id: 'abcd1234', ...more }).close;
  const name = '#task-abcd1234';
  t.same(archived('task.approved'), { name, reason: 'Task approved' });
  t.same(archived('task.completed'), { name, reason: 'Task completed' });
  t.same(archived('submission.approved'), { name, reason: 'Submission approved' });
  t.same(archived('task.cancelled'), { name, reason: 'Task cancelled' });
  t.same(archived('task.cancelled', { reason: 'sold' }), { name, reason: 'sold' });
  t.same(archived('task.mutual_cancel', { reason: 'sold', cancellation_reason: 'both agreed' }), {
    name,
    reason: 'both agreed',
  });
  t.match(archived('task.cancelled', { reason: 'x'.repeat(500) }), { reason: 'x'.repeat(200) });
});

t.test('CHAN-62 a task in a city opens the city', async (t) => {
  for (const type of ['task.created', 'task.published']) {
    t.same(openedBy(type, { id: 'abcd1234', location: 'São Paulo, BR' }), {
      name: '#city-sao-paulo',
      type: 'geographic',
      modes: '+nt',
      topic: 'Tasks in São Paulo | /tasks --near São Paulo',
      invite_list: [],
      metadata: { city: 'São Paulo' },
    });
  }
});

t.test('CHAN-63 other events, and events that name no channel, want nothing', async (t) => {
  t.same(effectsOn('task.assigned', { title: 'no id' }), {});
  t.same(effectsOn('task.assigned', { id: '#,\r\n' }), {});
  t.same(effectsOn('task.published', { id: 'abcd1234' }), {});
  t.same(effectsOn('task.published', { id: 'abcd1234', location: '東京' }), {});
  t.same(effectsOn('task.rejected', { id: 'abcd1234' }), {});
  for (const type of ['submission.received', 'submission.rejected', 'payment.settled', 'payment.released'])
    t.same(effectsOn(type, { id: 'abcd1234' }), {}, type);
  t.same(effectsOn('reputation.updated', { id: 'abcd1234' }), {});
  t.same(effectsOn('rating.created', { id: 'abcd1234' }), {});
});

t.test('CHAN-60 a title is screened before it stands in a topic', async (t) => {
  const { open } = channelEffects(
    event('task.assigned', { id: 'abcd1234', title: 'bad words', bounty_usdc: 1 }),
    (text) => (text === 'bad words' ? '[withheld]' : text),
  );
  t.match(open, { topic: 'Task abcd1234 | [withheld] | $1 USDC | Status: ASSIGNED' });
});

t.test('CHAN-61 an expired task’s room is left to its time of grace', async (t) => {
  t.same(effectsOn('task.expired', { id: 'abcd1234' }), { close: { name: '#task-abcd1234', reason: null } });
});

t.test('LOG-10 what is recorded of an event’s effects counts, else what would have been', async (t) => {
  const completed = event('task.completed', { id: 'abcd1234' });
  const recorded = { close: { name: '#task-other', reason: 'as it was' } };
  t.same(effectsOf({ ...completed, effects: recorded }), recorded);
  t.same(effectsOf({ ...completed, effects: {} }), {});
  t.same(effectsOf(completed), channelEffects(completed));
});

t.test('CHAN-84 a completed relay has its room archived', async (t) => {
  const effects = (payload: object) =>
    channelEffects({ event_type: 'relay.completed', payload: payload as Record<string, unknown> });
  t.same(effects({ relay_id: 'RELAY-0001-x' }), {
    close: { name: '#relay-relay-00', reason: 'Relay completed' },
  });
  t.same(effects({ id: 'abc' }), {}, 'without a relay there is no room');
});

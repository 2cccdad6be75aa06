import t from 'tap';
import { channelActionOf } from '../../streams/events/index.js';

const event = (event_type: string, payload: Record<string, unknown>) => ({
  event_id: 'evt-1',
  event_type,
  source: 'marketplace',
  payload,
});
const actionOf = (type: string, payload: Record<string, unknown>) =>
  channelActionOf(event(type, payload), 'em-bot');

t.test('CHAN-60 an assigned task gets its room, for the two it concerns and the bot', async (t) => {
  const payload = {
    id: 'A1b2c3d4e5',
    title: 'Photograph\r\na shop',
    bounty_usdc: 5,
    category: 'simple_action',
    publisher_nick: 'Anna',
    worker_nick: 'bob',
  };
  t.same(actionOf('task.assigned', payload), {
    is: 'create',
    name: '#task-a1b2c3d4',
    type: 'task',
    modes: '+int',
    topic: 'Task A1b2c3d4 | Photograph a shop | $5 USDC | Status: ASSIGNED',
    invite_list: ['Anna', 'bob', 'em-bot'],
    metadata: { task_id: 'A1b2c3d4e5', bounty: 5, category: 'simple_action' },
  });
});

t.test('CHAN-60 nobody is invited twice, and what is no nick is nobody', async (t) => {
  const invited = (publisher_nick: unknown, worker_nick: unknown) => {
    const action = actionOf('task.assigned', { id: 'abcd1234', publisher_nick, worker_nick });
    return action?.is === 'create' ? action.invite_list : undefined;
  };
  t.same(invited('Agent[1]', 'agent{1}'), ['agent{1}', 'em-bot']);
  t.same(invited('EM-BOT', 'x'), ['em-bot', 'x']);
  t.same(invited('a b', '#ops'), ['em-bot']);
  t.same(invited('bob,#ops', { toString: 1 }), ['em-bot']);
});

t.test('CHAN-61 an ended task has its room archived', async (t) => {
  const archived = (type: string, more: Record<string, unknown> = {}) =>
    actionOf(type, { id: 'abcd1234', ...more });
  const name = '#task-abcd1234';
  t.same(archived('task.approved'), { is: 'archive', name, reason: 'Task approved' });
  t.same(archived('task.completed'), { is: 'archive', name, reason: 'Task completed' });
  t.same(archived('task.cancelled'), { is: 'archive', name, reason: 'Task cancelled' });
  t.same(archived('task.cancelled', { reason: 'sold' }), { is: 'archive', name, reason: 'sold' });
  t.same(archived('task.mutual_cancel', { reason: 'sold', cancellation_reason: 'both agreed' }), {
    is: 'archive',
    name,
    reason: 'both agreed',
  });
  t.match(archived('task.cancelled', { reason: 'x'.repeat(500) }), { reason: 'x'.repeat(200) });
});

t.test('CHAN-62 a task in a city opens the city', async (t) => {
  for (const type of ['task.created', 'task.published']) {
    t.same(actionOf(type, { id: 'abcd1234', location: 'São Paulo, BR' }), {
      is: 'create',
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
  t.equal(actionOf('task.assigned', { title: 'no id' }), undefined);
  t.equal(actionOf('task.assigned', { id: '#,\r\n' }), undefined);
  t.equal(actionOf('task.published', { id: 'abcd1234' }), undefined);
  t.equal(actionOf('task.published', { id: 'abcd1234', location: '東京' }), undefined);
  t.equal(actionOf('task.rejected', { id: 'abcd1234' }), undefined);
  t.equal(actionOf('task.expired', { id: 'abcd1234' }), undefined);
  t.equal(actionOf('payment.settled', { id: 'abcd1234' }), undefined);
  t.equal(actionOf('rating.created', { id: 'abcd1234' }), undefined);
});

t.test('CHAN-60 a title is screened before it stands in a topic', async (t) => {
  const action = channelActionOf(
    event('task.assigned', { id: 'abcd1234', title: 'bad words', bounty_usdc: 1 }),
    'em-bot',
    (text) => (text === 'bad words' ? '[withheld]' : text),
  );
  t.match(action, { topic: 'Task abcd1234 | [withheld] | $1 USDC | Status: ASSIGNED' });
});

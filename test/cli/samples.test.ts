import t from 'tap';
import { story } from '../../src/cli/demo/story.js';
import { newTaskId } from '../../src/cli/events/task-id.js';
import { routeEvent, samplePayload, sampleTypes } from '../../streams/events/index.js';

/** How many parts the line of each type has where everything is known. */
const parts: Record<string, number> = {
  'task.created': 5,
  'task.published': 5,
  'task.assigned': 3,
  'task.approved': 3,
  'task.completed': 3,
  'task.rejected': 2,
  'task.cancelled': 2,
  'task.mutual_cancel': 3,
  'task.disputed': 3,
  'task.expired': 1,
  'submission.received': 2,
  'submission.approved': 3,
  'submission.rejected': 2,
  'payment.settled': 3,
  'payment.escrow_released': 3,
  'payment.released': 3,
  'rating.created': 3,
  'reputation.feedback': 3,
  'reputation.updated': 3,
  'relay.leg_started': 2,
  'relay.handoff': 2,
  'relay.completed': 3,
};
const known = Object.keys(parts);

const event = (event_type: string, payload: Record<string, unknown>) => ({
  event_id: 'e',
  event_type,
  source: 's',
  payload,
});

t.test('there is a sample for every type of the routing table', async (t) => {
  t.same([...sampleTypes].sort(), known.sort());
  t.equal(samplePayload('task.unknown', 'a'), undefined);
});

for (const type of known) {
  t.test(`the sample of ${type} fills its whole line`, async (t) => {
    const task = newTaskId();
    const { targetChannels, formattedMessage } = routeEvent(event(type, samplePayload(type, task)!));
    t.equal(formattedMessage.split(' | ').length, parts[type], formattedMessage);
    t.notMatch(formattedMessage, /\| ->|-> *(\||$)|Leg started/, 'no field is missing');
    t.notMatch(formattedMessage, `[${type}]`, 'it has a format of its own');
    const ofTask = type.startsWith('relay.') ? `#relay-${task}` : `#task-${task}`;
    const inFeed = /created|published|expired/.test(type) && type !== 'rating.created';
    t.ok(targetChannels.includes(inFeed ? '#bounties' : ofTask), targetChannels.join());
  });
}

t.test('the demo shows what a network lives on', async (t) => {
  const events = story('guest').flatMap((act) => act.events);
  const channels = new Set<string>();
  for (const { type, payload } of events) {
    const { targetChannels, formattedMessage } = routeEvent(event(type, payload));
    for (const channel of targetChannels) channels.add(channel);
    t.ok(formattedMessage.length < 350, 'fits a line with any prefix');
  }
  const types = new Set(events.map(({ type }) => type));
  for (const type of [
    'task.published',
    'task.assigned',
    'payment.settled',
    'task.completed',
    'rating.created',
  ])
    t.ok(types.has(type));
  for (const type of ['task.disputed', 'task.cancelled', 'task.expired', 'relay.completed'])
    t.ok(types.has(type));
  for (const channel of ['#bounties', '#payments', '#disputes', '#city-sao-paulo', '#cat-simple-action'])
    t.ok(channels.has(channel));
});

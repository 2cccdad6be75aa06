import t from 'tap';
import { story } from '../../src/cli/demo/story.js';
import { newTaskId, samplePayload, sampleTypes } from '../../src/cli/events/samples.js';
import { routeEvent } from '../../streams/events/index.js';

const known = [
  ...['task.created', 'task.published', 'task.assigned', 'task.approved', 'task.completed', 'task.rejected'],
  ...['task.cancelled', 'task.mutual_cancel', 'task.disputed', 'task.expired'],
  ...['payment.settled', 'payment.escrow_released', 'rating.created', 'reputation.feedback'],
  ...['submission.received', 'submission.approved', 'submission.rejected'],
  ...['payment.released', 'reputation.updated'],
  ...['relay.leg_started', 'relay.handoff', 'relay.completed'],
];

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
    t.notMatch(formattedMessage, /[ $]-(?!>)(?: |\/|$|\.)/, 'no field is missing');
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

import t, { type Test } from 'tap';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';

async function receiver(t: Test, settings: Record<string, string> = {}) {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    ROLES: 'api,services,projections,workers',
    ...settings,
  });
  const post = async (id: string, event_type: string, payload: Record<string, unknown>) => {
    const { status, body } = await postEvent(url, sampleEvent(id, { event_type, payload }));
    return { status, body };
  };
  return { url, post };
}

t.test('HOOK-31 an event that would show no id is refused, with the path of the field', async (t) => {
  const { post } = await receiver(t);
  const needed: [string, string][] = [
    ...['task.created', 'task.published', 'task.assigned', 'task.approved', 'task.completed'],
    ...['task.rejected', 'task.cancelled', 'task.mutual_cancel', 'task.disputed', 'task.expired'],
    ...['payment.settled', 'payment.escrow_released', 'rating.created', 'reputation.feedback'],
    ...['submission.received', 'submission.approved', 'submission.rejected', 'payment.released'],
    'reputation.updated',
  ].map((type) => [type, 'payload.id']);
  for (const [type, path] of [...needed, ['relay.completed', 'payload.relay_id'] as const]) {
    t.match(await post('evt-none', type, { title: 'A photo', reason: 'late' }), {
      status: 400,
      body: { code: 'invalid_event', error: new RegExp(path), details: [{ path }] },
    });
  }
  for (const id of ['', ' ', '\u200b', null, {}, [], true])
    t.match(await post('evt-none', 'task.expired', { id }), { status: 400 }, JSON.stringify(id));
  // punctuation, marks and blanks of other alphabets name nothing either, and no room
  for (const id of ['-', '--', '_', '--------abc', '.', '/', '\u0301', '\u2800', '\u3164', '…', '- _']) {
    for (const [type] of needed)
      t.match(
        await post('evt-none', type!, { id }),
        { status: 400, body: { details: [{ path: 'payload.id' }] } },
        id,
      );
    t.match(await post('evt-none', 'task.cancelled', { task_id: id }), {
      status: 400,
      body: { details: [{ path: 'payload.task_id' }] },
    });
    for (const type of ['relay.leg_started', 'relay.handoff', 'relay.completed'])
      t.match(
        await post('evt-none', type, { id: 'abc', relay_id: id, leg_number: 1 }),
        { status: 400, body: { details: [{ path: 'payload.relay_id' }] } },
        `${type} ${id}`,
      );
  }
  // nor does what readers take for the id of another task
  for (const id of [
    '１２３４５６７８',
    'a1b2c3d４',
    'ｔask-1',
    'аbc',
    '𝟏𝟐𝟑',
    '①②',
    'Α1',
    '１２３４５６７８-и',
  ]) {
    for (const type of ['task.completed', 'task.expired', 'payment.settled'])
      t.match(
        await post('evt-none', type, { id }),
        { status: 400, body: { code: 'invalid_event', details: [{ path: 'payload.id' }] } },
        `${type} ${id}`,
      );
    t.match(await post('evt-none', 'relay.handoff', { relay_id: id }), {
      status: 400,
      body: { details: [{ path: 'payload.relay_id' }] },
    });
  }
  t.match(await post('evt-none', 'task.expired', { task_id: 'abc' }), { status: 202 }, 'nothing was stored');
  t.match(await post('evt-none', 'task.expired', {}), { status: 200 }, 'what was accepted is known');
  for (const [id, type, payload] of [
    ['evt-number', 'task.expired', { id: 7 }],
    ['evt-task', 'relay.completed', { id: 'abc' }],
    ['evt-relay', 'relay.completed', { relay_id: 'r1' }],
    ['evt-leg', 'relay.leg_started', { leg_number: 1 }],
    ['evt-picture', 'task.expired', { id: '😀' }],
    ['evt-letters', 'task.cancelled', { id: '任务' }],
    ['evt-alphabet', 'task.cancelled', { id: 'задача-7' }],
    ['evt-accent', 'task.cancelled', { id: 'São-1' }],
    ['evt-unknown', 'worker.moved', {}],
  ] as const)
    t.match(await post(id, type, payload), { status: 202, body: { formatted_message: /^\[/ } }, id);
  const { body } = await post('evt-category', 'task.created', { id: 'abc', category: '___' });
  t.same(body.target_channels, ['#bounties'], 'a category of signs has no channel');
});

t.test('HOOK-32 unknown types that are ignored', async (t) => {
  const { url, post } = await receiver(t, { UNKNOWN_EVENTS: 'ignore' });
  const answer = await post('evt-1', 'worker.moved', { phone: '+1 555 0100' });
  t.same(answer, { status: 200, body: { status: 'ignored', queued: false, reason: 'unknown-type' } });
  t.match(await (await fetch(`${url}/metrics`)).text(), 'outcome="unknown_type",code=""} 1');
  t.match(await post('evt-1', 'task.expired', { id: 'abc' }), { status: 202 }, 'its id was not used up');
});

t.test('HOOK-32 unknown types that are refused', async (t) => {
  const { post } = await receiver(t, { UNKNOWN_EVENTS: 'reject' });
  t.match(await post('evt-1', 'worker.moved', {}), {
    status: 400,
    body: { code: 'invalid_event', details: [{ path: 'event_type' }] },
  });
  t.match(await post('evt-1', 'task.expired', { id: 'abc' }), { status: 202 });
  t.match(await post('evt-1', 'worker.moved', {}), { status: 200 }, 'what was accepted is known');
});

t.test('HOOK-32 of unknown types only the fields that were named are shown', async (t) => {
  const { post } = await receiver(t, { UNKNOWN_EVENT_FIELDS: 'city, note' });
  const payload = { phone: '+1 555 0100', note: 'moved', token: 'f-123', city: 'Lisbon' };
  t.match(await post('evt-1', 'worker.moved', payload), {
    status: 202,
    body: { formatted_message: '[worker.moved] {"note":"moved","city":"Lisbon"}' },
  });
  t.match(await post('evt-2', 'task.published', { id: 'abc', title: 'A photo' }), {
    body: { formatted_message: /A photo/ },
  });
});

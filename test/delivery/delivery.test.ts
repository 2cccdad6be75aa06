import t from 'tap';
import {
  type DeliveryFact,
  deliveryDecider,
  openChannels,
  pendingDelivery,
} from '../../streams/delivery/index.js';
import { specification } from '../support/spec.js';

const limits = { maxRetries: 3, ttlMs: 3_600_000 };
const decider = deliveryDecider(limits);
const { given } = specification(decider);
const event = { seq: 7, event_id: 'evt-7', token: 'evt-7' };
const about = { seq: 7, event_id: 'evt-7' };
const targets =
  (...channels: string[]) =>
  () =>
    pendingDelivery(channels);

const shown = (channel: string, completes = false): DeliveryFact => ({
  type: 'lines.confirmed',
  data: { lines: [{ ...about, channel, via: 'echo', completes }] },
});
const failed = (channel: string, failures: number, retry_count = failures): DeliveryFact => ({
  type: 'attempt.failed',
  data: { ...about, channel, failures, retry_count, error: '404 Cannot send' },
});
const dead = (delivered: string[], undelivered: string[]): DeliveryFact => ({
  type: 'event.dead_lettered',
  data: { ...about, retry_count: 3, last_error: '404 Cannot send', delivered, undelivered },
});

t.test('QUEUE-01 an attempt that succeeds in every channel makes the event delivered', async (t) => {
  given([], targets('#a'))
    .when({ is: 'confirm', event, channel: '#a', via: 'echo' })
    .decides(t, shown('#a', true));
  given([], targets('#a', '#b'))
    .when({ is: 'confirm', event, channel: '#a', via: 'echo' })
    .decides(t, shown('#a', false));
  given([shown('#a')], targets('#a', '#b'))
    .when({ is: 'confirm', event, channel: '#b', via: 'echo' })
    .decides(t, shown('#b', true));
});

t.test(
  'QUEUE-01 an event whose lines were confirmed by several who did not know of each other is delivered',
  async (t) => {
    const line = { ...about, channel: '#b', via: 'history' as const, completes: true };
    given([shown('#a'), shown('#b')], targets('#a', '#b'))
      .when({ is: 'conclude', event })
      .decides(t, { type: 'lines.confirmed', data: { lines: [line] } });
    given([shown('#a'), shown('#b', true)], targets('#a', '#b'))
      .when({ is: 'conclude', event })
      .decides(t, undefined, 'once');
    given([], targets()).when({ is: 'conclude', event }).decides(t, undefined, 'sent to nobody');
  },
);

t.test('QUEUE-02 a failed attempt leaves the event pending, counts, and keeps the error', async (t) => {
  given([], targets('#a'))
    .when({ is: 'fail', event, channel: '#a', error: '404 Cannot send' })
    .decides(t, failed('#a', 1));
  given([failed('#a', 1)], targets('#a'))
    .when({ is: 'fail', event, channel: '#a', error: '404 Cannot send' })
    .decides(t, failed('#a', 2));
  given([failed('#a', 2)], targets('#a', '#b'))
    .when({ is: 'fail', event, channel: '#b', error: '404 Cannot send' })
    .decides(t, failed('#b', 1, 2), 'the event counts as its worst channel');
});

t.test('QUEUE-03 three failures make a dead letter', async (t) => {
  given([failed('#a', 1), failed('#a', 2)], targets('#a'))
    .when({ is: 'conclude', event })
    .decides(t, undefined);
  given([failed('#a', 1), failed('#a', 2), failed('#a', 3)], targets('#a'))
    .when({ is: 'conclude', event })
    .decides(t, dead([], ['#a']));
});

t.test(
  'QUEUE-04 after a partial success only the other channels are tried, and named when given up',
  async (t) => {
    const state = pendingDelivery(['#a', '#b']);
    decider.evolve(state, shown('#a'));
    t.same(openChannels(state, limits), ['#b']);
    given([shown('#a'), failed('#b', 3)], targets('#a', '#b'))
      .when({ is: 'conclude', event })
      .decides(t, dead(['#a'], ['#b']));
    given([failed('#b', 3)], targets('#a', '#b'))
      .when({ is: 'conclude', event })
      .decides(t, undefined, 'another channel may still be tried');
  },
);

t.test(
  'QUEUE-05 an event older than its time to live expires, one that is just as old does not',
  async (t) => {
    const since = new Date('2026-01-01T12:00:00Z');
    const check = { is: 'check age' as const, event, since };
    given([shown('#a')], targets('#a', '#b'))
      .when(check, new Date('2026-01-01T13:00:00.000Z'))
      .decides(t, undefined);
    given([shown('#a')], targets('#a', '#b'))
      .when(check, new Date('2026-01-01T13:00:00.001Z'))
      .decides(t, { type: 'event.expired', data: { ...about, delivered: ['#a'], undelivered: ['#b'] } });
    given([shown('#a', true)], targets('#a'))
      .when(check, new Date('2026-01-02T12:00:00Z'))
      .decides(t, undefined, 'a delivered event never expires');
  },
);

t.test('QUEUE-06 a confirmed line is never confirmed or failed again', async (t) => {
  given([shown('#a')], targets('#a', '#b'))
    .when({ is: 'confirm', event, channel: '#a', via: 'history' })
    .decides(t, undefined);
  given([shown('#a')], targets('#a', '#b'))
    .when({ is: 'fail', event, channel: '#a', error: 'x' })
    .decides(t, undefined);
});

t.test('QUEUE-07 a redrive takes up only what was not shown, with a fresh count', async (t) => {
  const redriven: DeliveryFact = {
    type: 'event.redriven',
    data: { ...about, delivered: ['#a'], undelivered: ['#b'] },
  };
  given([dead(['#a'], ['#b'])])
    .when({ is: 'redrive', event })
    .decides(t, redriven);
  given([failed('#b', 3), dead(['#a'], ['#b']), redriven])
    .when({ is: 'fail', event, channel: '#b', error: '404 Cannot send' })
    .decides(t, failed('#b', 1));
  given([dead(['#a'], ['#b']), redriven])
    .when({ is: 'confirm', event, channel: '#b', via: 'echo' })
    .decides(t, shown('#b', true));
});

t.test('QUEUE-08 only dead or expired events are redriven, and each of them once', async (t) => {
  const redriven: DeliveryFact = {
    type: 'event.redriven',
    data: { ...about, delivered: [], undelivered: ['#a'] },
  };
  given([]).when({ is: 'redrive', event }).refuses(t, 'not_found');
  given([dead([], ['#a']), redriven])
    .when({ is: 'redrive', event })
    .refuses(t, 'not_dead_lettered');
  given([failed('#a', 1)])
    .when({ is: 'redrive', event })
    .refuses(t, 'not_dead_lettered');
  given([{ type: 'event.expired', data: { ...about, delivered: [], undelivered: ['#a'] } }])
    .when({ is: 'redrive', event })
    .decides(t, redriven);
});

const again = (showing: number, run: string, ...channels: string[]): DeliveryFact => ({
  type: 'event.redelivered',
  data: { ...about, showing, run, channels },
});

t.test('OPERATE-02 a run shows an event once more, and a new run another time', async (t) => {
  const redeliver = (run: string) => ({ is: 'redeliver' as const, event, run, channels: ['#a'] });
  given([])
    .when(redeliver('x'))
    .decides(t, again(1, 'x', '#a'));
  given([again(1, 'x', '#a')])
    .when(redeliver('x'))
    .decides(t, undefined);
  given([again(1, 'x', '#a')])
    .when(redeliver('y'))
    .decides(t, again(2, 'y', '#a'));
  given([again(1, 'x', '#a'), again(2, 'y', '#a')])
    .when(redeliver('x'))
    .decides(t, undefined, 'a run that is taken up after another one');
});

t.test('OPERATE-03 what is recorded of a showing says nothing of a later one', async (t) => {
  given([again(1, 'x', '#a'), shown('#a', true)])
    .when({ is: 'confirm', event, channel: '#a', via: 'echo' })
    .decides(t, {
      type: 'lines.confirmed',
      data: { lines: [{ ...about, showing: 1, channel: '#a', via: 'echo', completes: true }] },
    });
  given([again(1, 'x', '#a'), failed('#a', 3), dead([], ['#a'])])
    .when({ is: 'fail', event, channel: '#a', error: '404 Cannot send' })
    .decides(t, {
      type: 'attempt.failed',
      data: { ...about, showing: 1, channel: '#a', failures: 1, retry_count: 1, error: '404 Cannot send' },
    });
});

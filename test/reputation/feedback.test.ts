import t from 'tap';
import {
  decayAt,
  type FeedbackGiven,
  feedbackDecider,
  type GiveFeedback,
  scoreOf,
  weightAt,
} from '../../streams/reputation/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(feedbackDecider);
const give: GiveFeedback = { from: 'ann', nick: 'Bob', channel: '#lobby', rating: 4, comment: 'fine' };
const said = (fields: Partial<FeedbackGiven['data']> = {}): FeedbackGiven => ({
  type: 'feedback.given',
  data: { ...give, day: '2026-01-01', ...fields },
});

t.test('REP-01 one feedback a day, and the same one again is none', async (t) => {
  given([]).when(give).decides(t, said());
  given([said()]).when(give).decides(t, undefined, 'the same once more');
  given([said()])
    .when({ ...give, rating: 2 })
    .decides(t, said({ rating: 2 }), 'another rating replaces it');
  given([said()])
    .when({ ...give, comment: '' })
    .decides(t, said({ comment: '' }), 'another comment too');
  given([said({ rating: 2 }), said()])
    .when({ ...give, rating: 2 })
    .decides(t, said({ rating: 2 }), 'it is compared with the last one');
  given([said()])
    .when(give, new Date('2026-01-02T00:00:00Z'))
    .decides(t, said({ day: '2026-01-02' }), 'the next day counts anew');
  given([said({ day: '2026-01-02' })])
    .when({ ...give, rating: 1 }, new Date('2026-01-01T23:59:59.999Z'))
    .decides(t, said({ rating: 1, day: '2026-01-02' }), 'a slow clock does not go back a day');
});

t.test('REP-01 an event of the marketplace rates once, and never after a later one', async (t) => {
  const of = { source: 'marketplace' } as const;
  given([said({ ...of, event: 3 })])
    .when({ ...give, ...of, rating: 2, event: 4 })
    .decides(t, said({ ...of, rating: 2, event: 4 }));
  for (const event of [2, 3])
    given([said({ ...of, event: 3 }), said({ day: '2026-01-02' })])
      .when({ ...give, ...of, rating: 2, event })
      .decides(t, undefined, `event ${event} after event 3`);
});

t.test('REP-12 what is given in a private channel says so', async (t) => {
  const inPrivate = said({ private: true });
  given([])
    .when({ ...give, isPrivate: true })
    .decides(t, inPrivate);
  given([])
    .when({ ...give, isPrivate: false })
    .decides(t, said());
  given([inPrivate])
    .when({ ...give, isPrivate: false })
    .decides(t, undefined, 'the same again does not publish it');
  given([inPrivate])
    .when({ ...give, rating: 2, isPrivate: false })
    .decides(t, said({ rating: 2 }));
});

t.test('REP-02 nobody rates themselves, however they spell their nick', async (t) => {
  for (const nick of ['ann', 'ANN', 'Ann'])
    given([])
      .when({ ...give, nick })
      .refuses(t, 'self_feedback', nick);
  given([])
    .when({ ...give, from: 'a[b]', nick: 'A{B}' })
    .refuses(t, 'self_feedback', 'brackets are letters on IRC');
});

t.test('REP-01 the subject is one nick about another one in a channel', async (t) => {
  const subject = (fields: Partial<GiveFeedback>) => feedbackDecider.subject({ ...give, ...fields });
  t.equal(subject({}), 'reputation.bob.ann.lobby');
  t.equal(subject({ nick: 'BOB', from: 'Ann', channel: '#LOBBY' }), subject({}));
  t.not(subject({ channel: '#lobby.x' }), subject({}));
  for (const channel of ['#a.b', '#a b', '#*', '#>', '#ü', `#${'x'.repeat(100)}`])
    t.match(subject({ channel }), /^reputation\.bob\.ann\.~[A-Za-z0-9_-]+$/, channel);
});

t.test('REP-03 weights halve in 90 days, and the score grows with them', async (t) => {
  const now = new Date('2031-07-09T10:11:12.345Z');
  for (const [days, weight] of [
    [0, 1],
    [90, 0.5],
    [180, 0.25],
    [45, Math.SQRT1_2],
    [3_650, 2 ** (-3_650 / 90)],
  ] as const) {
    const then = new Date(now.getTime() - days * 86_400_000);
    const ratio = (weightAt(then) * decayAt(now)) / weight;
    t.ok(Math.abs(ratio - 1) < 1e-12, `${days} days`);
  }
  for (const year of [1850, 2270]) {
    const far = new Date(Date.UTC(year, 0));
    t.ok(Math.abs(weightAt(far) * decayAt(far) - 1) < 1e-9, `a double holds the weights of ${year}`);
  }
  t.equal(scoreOf(5, 3), 50);
  t.equal(scoreOf(5, 1e9), 100);
  t.equal(scoreOf(1, 1e9), 0);
  t.equal(scoreOf(3, 1), 13, 'halves are rounded up');
  t.equal(scoreOf(5, 0), 0);
});

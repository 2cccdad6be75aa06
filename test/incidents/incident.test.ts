import t from 'tap';
import {
  type IncidentCommand,
  type IncidentFact,
  type IncidentStatus,
  incidentDecider,
  isIncidentId,
} from '../../streams/incidents/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(incidentDecider);
const id = 'inc-abcd2345';
const report = {
  id,
  title: 'Leaked key',
  severity: 'SEV-1' as const,
  category: null,
  affected: ['#lobby'],
  description: null,
  fixes: [],
  sourcePosts: [],
  advisoryUrls: [],
  reporter: 'ann',
};
const reported: IncidentFact = { type: 'incident.reported', data: report };
const vote = (voter: string, score: number): IncidentCommand => ({
  is: 'vote',
  id,
  voter,
  score,
  contributionType: 'analysis',
  evidenceUrl: null,
  comment: 'seen',
});
const cast = (voter: string, score: number, status: IncidentStatus): IncidentFact => {
  const { is: _, ...data } = vote(voter, score) as Extract<IncidentCommand, { is: 'vote' }>;
  return { type: 'vote.cast', data: { ...data, status } };
};

t.test('SENTINEL-01 an id is given once', async (t) => {
  given([])
    .when({ is: 'report', ...report })
    .decides(t, reported);
  given([reported])
    .when({ is: 'report', ...report })
    .refuses(t, 'incident_exists');
  given([]).when(vote('bob', 50)).refuses(t, 'not_found');
  for (const text of ['inc-abcd2345', 'inc-00000000']) t.ok(isIncidentId(text));
  for (const text of [
    '',
    'abcd2345',
    'inc-ABCD2345',
    'inc-abcd234',
    'inc-abcd23456',
    'inc-a.b.2345',
    'inc->',
  ])
    t.notOk(isIncidentId(text), text);
});

t.test('SENTINEL-02 one vote each', async (t) => {
  const facts = [reported, cast('Bob[1]', 90, 'pending')];
  for (const voter of ['Bob[1]', 'bob[1]', 'BOB{1}'])
    given(facts).when(vote(voter, 10)).refuses(t, 'already_voted', voter);
  given(facts)
    .when(vote('bob', 10))
    .decides(t, cast('bob', 10, 'pending'));
  given(facts)
    .when(vote('ann', 10))
    .decides(t, cast('ann', 10, 'pending'), 'who reported has a vote too');
});

t.test('SENTINEL-03 SENTINEL-04 what the last of these votes makes of an incident', async (t) => {
  const cases: [number[], IncidentStatus][] = [
    [[100], 'pending'],
    [[0, 100], 'pending'],
    [[70, 70, 70], 'validated'],
    [[100, 100, 51], 'validated'],
    [[70, 70, 69], 'disputed'],
    [[69, 69, 69], 'disputed'],
    [[30, 30, 30], 'false_positive'],
    [[0, 0, 49], 'false_positive'],
    [[31, 30, 30], 'disputed'],
    [[50, 50, 50], 'disputed'],
    [[100, 100, 50], 'disputed'],
    [[0, 0, 50], 'disputed'],
    [[100, 100, 100, 50], 'disputed'],
    [[100, 100, 100, 0], 'disputed'],
    [[60, 60, 60, 100], 'validated'],
    [[60, 60, 60, 99], 'disputed'],
    [[40, 40, 40, 0], 'false_positive'],
    [[40, 40, 40, 1], 'disputed'],
    [[100, 100, 100, 100, 100, 51], 'validated'],
  ];
  for (const [scores, status] of cases) {
    const before = scores.slice(0, -1).map((score, n) => cast(`voter${n}`, score, 'pending'));
    const last = scores.at(-1)!;
    given([reported, ...before])
      .when(vote('last', last))
      .decides(t, cast('last', last, status), `${scores.join(', ')}: ${status}`);
  }
});

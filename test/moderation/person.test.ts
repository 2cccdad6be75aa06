import t from 'tap';
import {
  hostOf,
  judge,
  type Level,
  type ModerationFact,
  type PersonCommand,
  personDecider,
  personOf,
  personSubject,
  type Score,
  usualThresholds,
} from '../../streams/moderation/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(personDecider);
const person = 'host host.example';
const start = Date.parse('2026-01-01T12:00:00Z');
const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();
const scored = (score: number, fields: Partial<Score> = {}): Score => ({
  score,
  patterns: ['override', 'no-doubt'],
  encoded: false,
  money: false,
  talk: false,
  ...fields,
});

const said = (ref: string, minutes: number) => ({
  ref,
  nick: 'mallory',
  host: 'm@host.example',
  channel: '#lobby',
  said_at: at(minutes),
  text_hash: 'ab',
  text: 'x',
});
const judging = (ref: string, minutes: number, score: Score, spared?: 'late'): PersonCommand => ({
  is: 'judge',
  person,
  said: said(ref, minutes),
  score,
  thresholds: usualThresholds,
  spared,
});
type Fields = Partial<Extract<ModerationFact, { type: 'incident.recorded' }>['data']>;
const recorded = (ref: string, minutes: number, level: Level, fields: Fields = {}): ModerationFact => ({
  type: 'incident.recorded',
  data: {
    ...said(ref, minutes),
    person,
    score: 50,
    text_score: 50,
    level,
    patterns: 'override,no-doubt',
    action: 'notice',
    ...fields,
  },
});
const answered = (ref: string, fields: object = {}): ModerationFact => ({
  type: 'incident.answered',
  data: { ref, action: 'ban', outcome: 'done', mask: 'm!*@*', until: at(60), ...fields },
});

t.test('MOD-01 levels go by the points', async (t) => {
  const cases: [number, Level | undefined][] = [
    [0, undefined],
    [19, undefined],
    [20, 'LOG'],
    [39, 'LOG'],
    [40, 'WARN'],
    [59, 'WARN'],
    [60, 'MUTE'],
    [79, 'MUTE'],
  ];
  for (const [score, level] of cases)
    t.equal(judge(scored(score), [], start, usualThresholds)?.level, level, `${score}`);
  t.equal(judge(scored(10), [], start, [5, 8, 11, 12, 13])?.level, 'WARN', 'thresholds are configuration');
});

t.test('MOD-08 a person escalates, a line does not', async (t) => {
  const minute = 60_000;
  const levelWith = (score: Score, ...minutesAgo: number[]) =>
    judge(
      score,
      minutesAgo.map((ago) => ({ at: start - ago * minute })),
      start,
      usualThresholds,
    )?.level;
  t.equal(levelWith(scored(100)), 'MUTE', 'a single line is at most a mute');
  t.equal(levelWith(scored(80, { encoded: true })), 'KICK', 'unless it was encoded');
  t.equal(levelWith(scored(80, { money: true })), 'KICK', 'or about money');
  t.equal(levelWith(scored(100, { encoded: true, money: true })), 'KICK', 'and never a ban');
  t.equal(levelWith(scored(100), 9), 'KICK', 'two in ten minutes');
  t.equal(levelWith(scored(100), 11), 'MUTE', 'not in eleven');
  t.equal(levelWith(scored(100), 23 * 60, 22 * 60), 'BAN', 'three in a day');
  t.equal(levelWith(scored(100), 25 * 60, 22 * 60), 'MUTE', 'not in more');
  t.same(judge(scored(50), [{ at: start }, { at: start }], start, usualThresholds), {
    score: 70,
    level: 'MUTE',
  });
  t.same(judge(scored(45), Array(9).fill({ at: start }), start, usualThresholds), {
    score: 95,
    level: 'BAN',
  });
  t.same(judge(scored(30), Array(9).fill({ at: start }), start, usualThresholds), {
    score: 30,
    level: 'LOG',
  });
});

t.test('MOD-08 what is decided about a person', async (t) => {
  given([])
    .when(judging('line:1-0', 0, scored(50)))
    .decides(t, recorded('line:1-0', 0, 'WARN'));
  given([recorded('line:1-0', 0, 'WARN')])
    .when(judging('line:1-0', 0, scored(50)))
    .decides(t, undefined, 'each line once');
  given([])
    .when(judging('line:1-0', 0, scored(10)))
    .decides(t, undefined, 'harmless');
  given([recorded('line:1-0', 0, 'WARN')])
    .when(judging('line:2-0', 5, scored(50)))
    .decides(t, recorded('line:2-0', 5, 'MUTE', { score: 60, action: 'quiet', seconds: 600 }));
  given([])
    .when(judging('line:1-0', 0, scored(70), 'late'))
    .decides(
      t,
      recorded('line:1-0', 0, 'MUTE', { score: 70, text_score: 70, action: 'none', spared: 'late' }),
      'what is late is recorded',
    );
  const three = [recorded('line:1-0', 0, 'WARN'), recorded('line:2-0', 1, 'WARN')];
  const third = { score: 95, text_score: 75, action: 'ban' as const };
  given(three)
    .when(judging('line:3-0', 2, scored(75)))
    .decides(t, recorded('line:3-0', 2, 'BAN', { ...third, seconds: 3_600 }));
  const banned = recorded('line:0-0', -3_000, 'BAN', { action: 'ban' });
  given([banned, answered('line:0-0'), ...three])
    .when(judging('line:3-0', 2, scored(75)))
    .decides(
      t,
      recorded('line:3-0', 2, 'BAN', { ...third, seconds: 7_200 }),
      'a second ban is twice as long',
    );
  given([banned, answered('line:0-0', { outcome: 'failed' }), ...three])
    .when(judging('line:3-0', 2, scored(75)))
    .decides(t, recorded('line:3-0', 2, 'BAN', { ...third, seconds: 3_600 }), 'one that failed was none');
  given([...three, { type: 'incident.pardoned', data: { ref: 'line:1-0', reason: '' } }])
    .when(judging('line:3-0', 2, scored(75)))
    .decides(
      t,
      recorded('line:3-0', 2, 'KICK', { score: 85, text_score: 75, action: 'kick' }),
      'a pardoned one does not count',
    );
});

t.test('MOD-30 what is decided about a program in a loop', async (t) => {
  const looping = (ref: string, minutes: number, level: 'WARN' | 'MUTE', spared?: 'late'): PersonCommand => ({
    is: 'loop',
    person,
    said: said(ref, minutes),
    level,
    minutes: 10,
    spared,
  });
  const looped = (ref: string, minutes: number, level: 'WARN' | 'MUTE', fields: Fields) =>
    recorded(ref, minutes, level, {
      score: level === 'WARN' ? 40 : 60,
      text_score: 0,
      patterns: 'loop',
      ...fields,
    });
  const warned = looped('loop-warn:1-0', 0, 'WARN', { action: 'notice' });
  given([])
    .when(looping('loop-warn:1-0', 0, 'WARN'))
    .decides(t, warned);
  given([warned])
    .when(looping('loop-warn:1-0', 0, 'WARN'))
    .decides(t, undefined, 'each line once');
  const mute = (ref: string, minutes: number, seconds: number) =>
    looped(ref, minutes, 'MUTE', { action: 'quiet', seconds });
  const first = mute('loop-mute:2-0', 1, 600);
  given([warned])
    .when(looping('loop-mute:2-0', 1, 'MUTE'))
    .decides(t, first);
  given([first])
    .when(looping('loop-mute:3-0', 20, 'MUTE'))
    .decides(t, mute('loop-mute:3-0', 20, 1_200), 'twice as long');
  given([first])
    .when(looping('loop-mute:3-0', 25 * 60, 'MUTE'))
    .decides(t, mute('loop-mute:3-0', 25 * 60, 600), 'a day later it is forgotten');
  given([first, { type: 'incident.pardoned', data: { ref: 'loop-mute:2-0', reason: '' } }])
    .when(looping('loop-mute:3-0', 20, 'MUTE'))
    .decides(t, mute('loop-mute:3-0', 20, 600), 'and what was pardoned at once');
  given(Array.from({ length: 9 }, (_, n) => mute(`loop-mute:${n}-1`, n, 600)))
    .when(looping('loop-mute:99-0', 20, 'MUTE'))
    .decides(t, mute('loop-mute:99-0', 20, 86_400), 'a day is the longest');
  given([])
    .when(looping('loop-mute:2-0', 1, 'MUTE', 'late'))
    .decides(t, looped('loop-mute:2-0', 1, 'MUTE', { action: 'none', spared: 'late' }));
  given([warned, first])
    .when(judging('line:5-0', 5, scored(50)))
    .decides(t, recorded('line:5-0', 5, 'WARN'), 'it makes no attack worse');
});

t.test('MOD-09 MOD-10 answers, lifts and pardons', async (t) => {
  const subject = 'moderation.person.x';
  const ban = recorded('line:1-0', 0, 'BAN', { action: 'ban', seconds: 3_600 });
  const answer = {
    ref: 'line:1-0',
    action: 'ban' as const,
    outcome: 'failed' as const,
    error: 'No such nick',
  };
  given([ban])
    .when({ is: 'answer', subject, ...answer })
    .decides(t, { type: 'incident.answered', data: answer });
  given([ban, answered('line:1-0')])
    .when({ is: 'answer', subject, ...answer })
    .decides(t, undefined, 'once');
  const lift = { is: 'lift' as const, subject, ref: 'line:1-0', outcome: 'done' as const };
  const lifted: ModerationFact = { type: 'incident.lifted', data: { ref: 'line:1-0', outcome: 'done' } };
  given([ban, answered('line:1-0')])
    .when(lift)
    .decides(t, lifted);
  given([ban]).when(lift).decides(t, undefined, 'nothing runs');
  given([ban, answered('line:1-0'), lifted])
    .when(lift)
    .decides(t, undefined, 'lifted before');
  given([
    ban,
    answered('line:1-0'),
    { ...lifted, data: { ...lifted.data, outcome: 'failed' } } as ModerationFact,
  ])
    .when(lift)
    .decides(t, lifted, 'again after it failed');
  const pardon = { is: 'pardon' as const, subject, ref: 'line:1-0', reason: 'a quote' };
  const pardoned: ModerationFact = {
    type: 'incident.pardoned',
    data: { ref: 'line:1-0', reason: 'a quote' },
  };
  given([ban]).when(pardon).decides(t, pardoned);
  given([ban, pardoned]).when(pardon).decides(t, undefined, 'pardoned before');
  const appeal = { is: 'appeal' as const, subject, ref: 'line:1-0', reason: 'a quote' };
  const appealed: ModerationFact = {
    type: 'incident.appealed',
    data: { ref: 'line:1-0', reason: 'a quote' },
  };
  const uphold = { is: 'uphold' as const, subject, ref: 'line:1-0', reason: 'none' };
  const upheld: ModerationFact = { type: 'incident.upheld', data: { ref: 'line:1-0', reason: 'none' } };
  const tell = { is: 'tell' as const, subject, ref: 'line:1-0' };
  const told = (decision: 'pardoned' | 'upheld'): ModerationFact => ({
    type: 'incident.told',
    data: { ref: 'line:1-0', decision },
  });
  given([ban]).when(appeal).decides(t, appealed);
  given([ban, appealed]).when(appeal).decides(t, undefined, 'appealed before');
  given([ban, pardoned]).when(appeal).refuses(t, 'nothing_to_appeal');
  given([recorded('line:1-0', 0, 'LOG', { action: 'none' })])
    .when(appeal)
    .refuses(t, 'nothing_to_appeal');
  given([ban]).when(uphold).refuses(t, 'no_open_appeal');
  given([ban, appealed]).when(uphold).decides(t, upheld);
  given([ban, appealed, upheld]).when(uphold).decides(t, undefined, 'declined before');
  given([ban, appealed, pardoned]).when(uphold).refuses(t, 'no_open_appeal');
  given([ban, appealed]).when(tell).decides(t, undefined, 'nothing is decided');
  given([ban, appealed, upheld]).when(tell).decides(t, told('upheld'));
  given([ban, appealed, upheld, told('upheld')])
    .when(tell)
    .decides(t, undefined, 'told before');
  given([ban, appealed, upheld, told('upheld'), pardoned])
    .when(tell)
    .decides(t, told('pardoned'));
  for (const command of [pardon, lift, appeal, uphold, tell, { is: 'answer' as const, subject, ...answer }])
    given([]).when(command).refuses(t, 'not_found');
});

t.test('MOD-25 a person is the account, else the host', async (t) => {
  t.equal(personOf({ nick: 'Ann[1]', host: 'a@Host.example' }), 'host host.example');
  t.equal(personOf({ nick: 'bob', host: 'b@host.EXAMPLE' }), 'host host.example', 'whatever nick or user');
  t.equal(personOf({ nick: 'ann', host: 'b@host.example', account: 'Anna' }), 'account anna');
  t.equal(personOf({ nick: 'Ann' }), 'nick ann', 'who shows no host');
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:2:aaaa::7', '2001:db8:0:2::/64'],
    ['2001:DB8::2:1:2:3:4', '2001:db8:0:2::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['0::1', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['gateway/web/x-ab', 'gateway/web/x-ab'],
  ] as const)
    t.equal(hostOf(`u@${address}`), network, address);
});

t.test('MOD-41 what runs is held for a new account once, and counts no more than that', async (t) => {
  const pattern = 'new-account';
  const mute = recorded('line:1', 0, 'MUTE', { action: 'quiet', seconds: 600 });
  const subject = personSubject(person);
  const again = { ...said('new-account:ann:line:1', 2), account: 'ann' };
  const hold: PersonCommand = {
    is: 'hold',
    subject,
    person,
    ref: 'line:1',
    said: again,
    seconds: 480,
    pattern,
  };
  const held = {
    type: 'incident.recorded' as const,
    data: {
      ...again,
      person,
      level: 'MUTE' as const,
      score: 60,
      text_score: 0,
      action: 'quiet' as const,
      ...{ patterns: pattern, seconds: 480 },
    },
  };
  const done = answered('line:1', { until: at(10) });
  given([mute, done]).when(hold).decides(t, held);
  given([mute, done, held]).when(hold).decides(t, undefined);
  given([mute]).when(hold).decides(t, undefined);
  given([mute, done, { type: 'incident.lifted', data: { ref: 'line:1', outcome: 'done' } }])
    .when(hold)
    .decides(t, undefined);
  given([mute, done, { type: 'incident.pardoned', data: { ref: 'line:1', reason: '' } }])
    .when(hold)
    .decides(t, undefined);
  given([]).when(hold).decides(t, undefined);
  given([mute, held])
    .when(judging('line:2', 20, scored(50)))
    .decides(t, recorded('line:2', 20, 'MUTE', { score: 60, action: 'quiet', seconds: 600 }));
});

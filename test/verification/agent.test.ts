import t from 'tap';
import {
  type AgentCommand,
  type AgentFact,
  agentDecider,
  agentSubject,
  type Challenge,
  challengeMs,
  withChallenge,
} from '../../streams/verification/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(agentDecider);
const nickname = 'Scout[1]';
const proof = { postUrl: 'https://twitter.com/Ann/status/1', email: 'ann@agents.example' };
const look = (as = nickname): AgentCommand => ({ is: 'look', nickname: as });
const register = (as = nickname): AgentCommand => ({
  is: 'register',
  nickname: as,
  socialHandle: 'Ann',
  ...proof,
});
const registered = (social_handle = 'Ann'): AgentFact => ({
  type: 'agent.registered',
  data: { nickname, social_handle, post_url: proof.postUrl, email: proof.email },
});

t.test('AGENT-02 AGENT-04 who has the nickname', async (t) => {
  given([]).when(look()).decides(t, undefined);
  given([]).when(register()).decides(t, registered());
  const requested: AgentFact = {
    type: 'registration.requested',
    data: { nickname, social_handle: 'bob', text: 'svc:verify:x', expires_at: '2026-01-01T00:30:00Z' },
  };
  given([requested]).when(register()).decides(t, registered(), 'what was asked for in older records is over');
  for (const as of [nickname, 'SCOUT[1]', 'scout{1}'])
    for (const command of [look(as), register(as)])
      given([registered('bob')])
        .when(command)
        .refuses(t, 'nickname_taken', as);
  t.equal(agentSubject('SCOUT[1]'), agentSubject('scout{1}'));
});

const at = (minutes: number) => Date.UTC(2026, 0, 1) + minutes * 60_000;
/** The challenges of a handle after these requests, each a nickname, a place and a minute. */
function after(...requests: [nickname: string, from: string, minute: number][]): Challenge[] {
  return requests.reduce<Challenge[]>(
    (known, [nickname, from, minute], n) =>
      withChallenge(known, { nickname, from, code: `code${n}` }, at(minute)).challenges,
    [],
  );
}

t.test('AGENT-01 AGENT-03 challenges of a handle', async (t) => {
  const first = withChallenge([], { nickname, from: 'a', code: '0000aaaa' }, at(0));
  t.same(first.challenge, {
    nickname: 'scout{1}',
    text: 'svc:verify:Scout[1]:0000aaaa',
    from: 'a',
    expiresAt: at(30),
  });
  const again = (minute: number, as = nickname) =>
    withChallenge(first.challenges, { nickname: as, from: 'b', code: '1111bbbb' }, at(minute));
  t.match(again(0.5), { isNew: false, challenge: first.challenge }, 'asked twice in a row');
  const { text } = first.challenge;
  t.match(again(20), { challenge: { text, expiresAt: at(50), from: 'a' } }, 'the text stays');
  t.match(
    again(20, 'scout{1}'),
    { challenge: { text }, challenges: { length: 1 } },
    'in another spelling too',
  );
  t.match(again(30), { challenge: { text: 'svc:verify:Scout[1]:1111bbbb', expiresAt: at(60) } });
  t.match(
    again(1, 'other').challenges,
    [{ text }, { nickname: 'other' }],
    'another nickname leaves it alone',
  );
});

t.test('AGENT-04 AGENT-16 what ran out is known as long again, and then forgotten', async (t) => {
  t.match(after(['one', 'a', 0], ['two', 'a', 59]), [{ nickname: 'one' }, { nickname: 'two' }]);
  t.match(after(['one', 'a', 0], ['two', 'a', 60]), [{ nickname: 'two' }]);
  t.equal(after(['one', 'a', 0], ['two', 'a', 60]).length, 1);
  t.equal(challengeMs, 30 * 60_000);
});

t.test('AGENT-16 who asks for many does not drive out who asks for one', async (t) => {
  const places = Array.from({ length: 30 }, (_, n) => `place${n % 6}`);
  const flood = Array.from({ length: 300 }, (_, n): [string, string, number] => [
    `nick${n}`,
    places[n % 30]!,
    1 + n / 100,
  ]);
  const known = after(['mine', 'owner', 0], ...flood);
  t.equal(known.length, 31, 'five of each place');
  t.equal(known[0]!.nickname, 'mine');
  const fromOne = after(...flood.map(([nick, , minute]): [string, string, number] => [nick, 'one', minute]));
  t.same(
    fromOne.map(({ nickname }) => nickname),
    ['nick295', 'nick296', 'nick297', 'nick298', 'nick299'],
  );
});

t.test('AGENT-16 who comes late is driven out by no fewer than 20 other places', async (t) => {
  const flood = (first: number, count: number, minute: number) =>
    Array.from({ length: count }, (_, n): [string, string, number] => [
      `nick${minute}.${first + n}`,
      `place${first + n}`,
      minute + n / 100,
    ]);
  const has = (known: Challenge[]) => known.some((one) => one.nickname === 'mine');
  const before = [...flood(0, 60, 1), ['mine', 'owner', 2] as [string, string, number]];
  t.ok(has(after(...before)), 'all places are taken');
  t.ok(has(after(...before, ...flood(60, 19, 3))), 'others come later');
  t.ok(
    has(after(...before, ...flood(41, 19, 3), ...flood(41, 19, 4), ...flood(0, 20, 5))),
    'those who are there ask for more',
  );
  const known = after(...before, ...flood(60, 20, 3));
  t.equal(known.length, 40);
  t.match(known[0], { nickname: 'nick1.0' }, 'who was first stays');
  t.notOk(has(known));
});

t.test('AGENT-16 who asks from many places does not drive out who was first', async (t) => {
  const flood = Array.from({ length: 60 }, (_, n): [string, string, number] => [
    `nick${n}`,
    `place${n}`,
    1 + n / 100,
  ]);
  const known = after(['mine', 'owner', 0], ...flood);
  t.equal(known.length, 40);
  t.equal(known[0]!.nickname, 'mine');
  const renewed = after(['mine', 'owner', 0], ...flood, ['mine', 'owner', 10], ['late', 'other', 11]);
  t.match(renewed[0], { nickname: 'mine', expiresAt: at(40) }, 'who asks again is not the newest');
  t.equal(renewed.at(-1)!.nickname, 'late');
});

import t from 'tap';
import {
  type AgentCommand,
  type AgentFact,
  agentDecider,
  agentSubject,
} from '../../streams/verification/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(agentDecider);
const nickname = 'Scout[1]';
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000);
const challenge = (code: string, socialHandle = 'Ann', as = nickname): AgentCommand => ({
  ...{ is: 'challenge', nickname: as, socialHandle, code },
});
const look = (socialHandle = 'Ann'): AgentCommand => ({ is: 'look', nickname, socialHandle });
const proof = { postUrl: 'https://twitter.com/Ann/status/1', email: 'ann@agents.example' };
const register = (socialHandle = 'Ann'): AgentCommand => ({
  is: 'register',
  nickname,
  socialHandle,
  ...proof,
});
const issued = (code: string, until: number, social_handle = 'Ann', as = nickname): AgentFact => ({
  type: 'registration.requested',
  data: {
    nickname: as,
    social_handle,
    text: `svc:verify:${nickname}:${code}`,
    expires_at: at(until).toISOString(),
  },
});
const registered = (social_handle = 'Ann'): AgentFact => ({
  type: 'agent.registered',
  data: { nickname, social_handle, post_url: proof.postUrl, email: proof.email },
});

t.test('AGENT-01 AGENT-03 challenges', async (t) => {
  given([]).when(challenge('0000aaaa'), at(0)).decides(t, issued('0000aaaa', 30));
  const facts = [issued('0000aaaa', 30)];
  given(facts).when(challenge('1111bbbb'), at(0.5)).decides(t, undefined, 'asked twice in a row');
  given(facts).when(challenge('1111bbbb'), at(20)).decides(t, issued('0000aaaa', 50), 'the text stays');
  given(facts)
    .when(challenge('1111bbbb', 'ANN', 'scout{1}'), at(20))
    .decides(t, issued('0000aaaa', 50, 'ANN', 'scout{1}'), 'in another spelling too');
  given(facts)
    .when(challenge('1111bbbb'), at(30))
    .decides(t, issued('1111bbbb', 60), 'unless it has run out');
  given(facts)
    .when(challenge('1111bbbb', 'bob'), at(1))
    .decides(t, issued('1111bbbb', 31, 'bob'));
  given([...facts, issued('1111bbbb', 31, 'bob')])
    .when(look(), at(29))
    .decides(t, undefined, 'another handle leaves it alone');
});

t.test('AGENT-02 AGENT-04 who has the nickname', async (t) => {
  const facts = [issued('0000aaaa', 30), issued('1111bbbb', 31, 'bob')];
  for (const command of [look, register]) {
    given([]).when(command(), at(0)).refuses(t, 'no_pending_verification');
    given(facts).when(command('carol'), at(0)).refuses(t, 'no_pending_verification', 'of another handle');
    given(facts).when(command(), at(30)).refuses(t, 'verification_expired');
    given([...facts, registered()])
      .when(command('bob'), at(1))
      .refuses(t, 'nickname_taken');
    given([...facts, registered()])
      .when(command(), at(1))
      .refuses(t, 'no_pending_verification', 'a challenge is used once');
  }
  given(facts).when(look('ANN'), at(29)).decides(t, undefined);
  given(facts).when(register('Ann'), at(29)).decides(t, registered());
  for (const as of [nickname, 'SCOUT[1]', 'scout{1}'])
    for (const handle of ['Ann', 'bob'])
      given([...facts, registered()])
        .when(challenge('2222cccc', handle, as), at(1))
        .refuses(t, 'nickname_taken', as);
  t.equal(agentSubject('SCOUT[1]'), agentSubject('scout{1}'));
});

t.test('AGENT-04 what ran out is remembered for a day', async (t) => {
  const state = agentDecider.initial();
  for (let n = 0; n < 100; n++) agentDecider.evolve(state, issued('0000aaaa', 30 + n * 60, `h${n}`));
  t.same([...state.challenges.keys()][0], 'h75');
  t.equal(state.challenges.size, 25);
  agentDecider.evolve(state, issued('0000aaaa', 30 + 99 * 60, 'h75'));
  t.same([...state.challenges.keys()].at(-1), 'h75', 'renewed');
});

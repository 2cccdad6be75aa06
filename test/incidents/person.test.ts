import t from 'tap';
import { type IncidentCommand, incidentDecider } from '../../streams/incidents/index.js';
import { newWallet } from '../auth/stage.js';
import { keysStage, operator } from '../keys/stage.js';

const report: IncidentCommand & { is: 'report' } = {
  ...{ is: 'report', id: 'inc-aaaaaaaa', title: 'A leaked key', severity: 'SEV-2', category: null },
  ...{ affected: [], description: null, fixes: [], sourcePosts: [], advisoryUrls: [] },
  ...{ reporter: 'Ann', person: '0xa' },
};
const vote = (voter: string, more: object = {}): IncidentCommand => ({
  ...{ is: 'vote', id: report.id, voter, score: 90, contributionType: 'confirmation' },
  ...{ evidenceUrl: null, comment: null, own: true, ...more },
});
/** The incident after these commands. */
function after(...commands: IncidentCommand[]) {
  const state = incidentDecider.initial();
  for (const command of commands)
    incidentDecider.evolve(state, incidentDecider.decide(command, state, new Date(0))!);
  return (command: IncidentCommand) => incidentDecider.decide(command, state, new Date(0));
}

t.test('SENTINEL-15 one vote a person, and none on what one has reported', async (t) => {
  const reported = after(report);
  t.throws(() => reported(vote('ann')), { code: 'own_incident' });
  t.throws(() => reported(vote('bob', { person: '0xa' })), { code: 'own_incident' }, 'under another nick');
  t.match(reported(vote('ann', { own: false })), { type: 'vote.cast' }, 'an operator says it for somebody');
  t.match(reported(vote('bob', { person: '0xb' })), { data: { voter: 'bob', person: '0xb' } });
  const voted = after(report, vote('bob', { person: '0xb' }));
  t.throws(() => voted(vote('bob2', { person: '0xb' })), { code: 'already_voted' }, 'under another nick');
  t.throws(() => voted(vote('BOB')), { code: 'already_voted' });
  t.match(voted(vote('carl', { person: '0xc' })), { data: { voter: 'carl' } });
});

t.test('SENTINEL-15 through the doors', async (t) => {
  const { ask, signed, proven, given } = await keysStage(t);
  const incident = async () =>
    (
      await ask(
        'POST',
        '/sentinel/incidents',
        { title: 'A leaked key', severity: 'SEV-2', reporterNick: 'ann' },
        operator,
      )
    ).body.id as string;
  const wallet = newWallet();
  const id = await incident();
  const path = `/sentinel/incidents/${id}/vote`;

  await t.test('a wallet that goes from nick to nick votes once', async (t) => {
    const answers = [];
    for (const nick of ['liar1', 'liar2', 'liar3']) {
      await proven(nick, wallet);
      answers.push(await signed(wallet, 'POST', path, { voterNick: nick, score: 100 }));
      t.equal((await signed(wallet, 'DELETE', `/identity/link/${nick}`)).status, 200);
    }
    t.same(
      answers.map(({ status }) => status),
      [200, 409, 409],
    );
    t.match(answers[1], { body: { code: 'already_voted' } });
  });

  await t.test('the key of a wallet is the same person, and its link has an age', async (t) => {
    const own = await proven('mia');
    const { body } = await signed(own, 'POST', '/auth/keys', { scopes: ['vote', 'report'] });
    const withKey = { 'x-api-key': body.key };
    t.match(await ask('POST', path, { score: 90 }, withKey), {
      ...{ status: 403, body: { code: 'link_too_young', error: /24 hours/ } },
    });
    t.equal((await signed(own, 'POST', path, { voterNick: 'mia', score: 90 })).status, 200);
    const mine = (await ask('POST', '/sentinel/incidents', { title: 'Mine', severity: 'SEV-4' }, withKey))
      .body.id;
    t.match(await signed(own, 'POST', `/sentinel/incidents/${mine}/vote`, { voterNick: 'mia', score: 90 }), {
      ...{ status: 403, body: { code: 'own_incident' } },
    });
    const { headers } = await given('ned', ['vote']);
    t.equal(
      (await ask('POST', path, { score: 90 }, headers)).status,
      200,
      'a nick that the operator vouches for',
    );
    t.match(await ask('POST', path, { score: 90 }, headers), { status: 409 });
  });
});

t.test('SENTINEL-15 an operator says how old links must be', async (t) => {
  const { ask, signed, proven } = await keysStage(t, { VOTE_LINK_AGE_HOURS: '1' });
  const report = { title: 'A leaked key', severity: 'SEV-2', reporterNick: 'ann' };
  const { id } = (await ask('POST', '/sentinel/incidents', report, operator)).body;
  const wallet = await proven('ola');
  t.match(await signed(wallet, 'POST', `/sentinel/incidents/${id}/vote`, { voterNick: 'ola', score: 90 }), {
    ...{ status: 403, body: { code: 'link_too_young', error: /1 hours/ } },
  });
});

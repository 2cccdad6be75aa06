import t from 'tap';
import {
  challengesOf,
  type IdentityFact,
  type LinkChallenges,
  levelOf,
  type RegistryCommand,
  registryDecider,
  withChallenge,
} from '../../streams/identity/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(registryDecider);
const nick = 'alice';
const wallet_address = '0x52908400098527886E0F7030069857D2E4169EE7';
const other = `0x${'ab'.repeat(20)}`;
const noon = new Date('2026-01-01T12:00:00Z');
const after = (minutes: number) => new Date(noon.getTime() + minutes * 60_000);
const seconds = noon.getTime() / 1000;

const link: RegistryCommand = { is: 'link', nick, wallet_address, identified: false };
const linked: IdentityFact = { type: 'identity.linked', data: { nick, wallet_address, identified: false } };
const linkedByNick: IdentityFact = { type: 'identity.linked', data: { ...linked.data, identified: true } };
const confirmed: IdentityFact = { type: 'identity.confirmed', data: { nick, wallet_address } };
const unlinked: IdentityFact = {
  type: 'identity.unlinked',
  data: { nick, wallet_address, sync_version: 0 },
};
const text = `svc:verify:${nick}:${seconds}:a1b2c3`;
const challenge = { text, expiresAt: after(30).getTime() };
const verify = (
  fields: Partial<RegistryCommand & { is: 'verify' }> = {},
): RegistryCommand & { is: 'verify' } => ({
  is: 'verify',
  nick,
  link: 0,
  challenge,
  signer: wallet_address,
  agent_id: null,
  ...fields,
});
const verified = (agent_id: number | null = null, sync_version = 1): IdentityFact => ({
  type: 'identity.verified',
  data: { nick, wallet_address, agent_id, sync_version },
});
/** What earlier versions have recorded of challenges and wrong signatures. */
const older: IdentityFact[] = [
  {
    type: 'challenge.issued',
    data: { nick, challenge: 'an older text', expires_at: after(30).toISOString(), via: 'irc' },
  },
  ...[1, 2, 3].map(
    (minute): IdentityFact => ({
      type: 'verification.failed',
      data: { nick, reason: 'wallet_mismatch', attempted_at: after(-minute).toISOString() },
    }),
  ),
];

t.test('IDENT-01 IDENT-02 one wallet for a nick, one nick for a wallet', async (t) => {
  given([]).when(link).decides(t, linked);
  given([linked]).when(link).refuses(t, 'nick_linked', 'the same again');
  given([linked])
    .when({ ...link, wallet_address: other })
    .refuses(t, 'nick_linked');
  given([linked])
    .when({ ...link, nick: 'bob' })
    .refuses(t, 'wallet_linked');
  given([linked])
    .when({ ...link, nick: 'bob', wallet_address: wallet_address.toLowerCase() })
    .refuses(t, 'wallet_linked', 'in another form');
  given([linked])
    .when({ ...link, nick: 'bob', wallet_address: other })
    .decides(t, { type: 'identity.linked', data: { nick: 'bob', wallet_address: other, identified: false } });
});

t.test('IDENT-05 an unlink leaves both free', async (t) => {
  given([linked]).when({ is: 'unlink', nick }).decides(t, unlinked);
  given([]).when({ is: 'unlink', nick }).refuses(t, 'wallet_not_linked');
  given([linked, unlinked]).when({ is: 'unlink', nick }).refuses(t, 'wallet_not_linked');
  given([linked, unlinked]).when(link).decides(t, linked);
  given([linked, unlinked])
    .when({ ...link, nick: 'bob' })
    .decides(t, { type: 'identity.linked', data: { nick: 'bob', wallet_address, identified: false } });
  given([linked, verified(4), { type: 'identity.unlinked', data: { ...unlinked.data, sync_version: 1 } }])
    .when({ is: 'challenge', nick })
    .refuses(t, 'wallet_not_linked');
});

t.test('IDENT-10 the identified nick confirms what somebody else has said of it', async (t) => {
  const itself: RegistryCommand = { is: 'link', nick, wallet_address, identified: true };
  given([]).when(itself).decides(t, linkedByNick);
  given([linked]).when(itself).decides(t, confirmed);
  given([linked])
    .when({ ...itself, wallet_address: wallet_address.toLowerCase() })
    .decides(t, confirmed, 'in the form in which it was linked');
  given([linked, confirmed]).when(itself).decides(t, undefined);
  given([linkedByNick]).when(itself).decides(t, undefined);
  given([linked])
    .when({ ...itself, wallet_address: other })
    .refuses(t, 'nick_linked', 'another wallet');
  const level = (identified: boolean, isVerified: boolean, agentId: number | null) =>
    levelOf({ identified, verified: isVerified, agentId });
  t.same([level(false, false, null), level(false, true, 7), level(true, false, null)], [0, 0, 1]);
  t.same([level(true, true, null), level(true, true, 0), level(true, true, 7)], [2, 3, 3]);
});

t.test('IDENT-02 a wallet belongs to nobody before it has signed', async (t) => {
  const itself: RegistryCommand = { is: 'link', nick: 'bob', wallet_address, identified: true };
  const bobs: IdentityFact = {
    type: 'identity.linked',
    data: { nick: 'bob', wallet_address, identified: true },
  };
  const bobIsOut: IdentityFact = {
    type: 'identity.unlinked',
    data: { nick: 'bob', wallet_address, sync_version: 0 },
  };
  given([linkedByNick]).when(itself).decides(t, bobs, 'another nick has only claimed it');
  given([linked]).when(itself).decides(t, bobs, 'an operator has said that it is of another nick');
  given([bobs]).when(link).decides(t, linked, 'an operator links what a nick has claimed');
  given([linked, confirmed])
    .when({ ...link, nick: 'carl' })
    .decides(t, { type: 'identity.linked', data: { nick: 'carl', wallet_address, identified: false } });
  given([bobs, linked]).when(verify()).decides(t, bobIsOut, 'the claim of another ends first');
  given([bobs, linked])
    .when(verify({ signer: other }))
    .refuses(t, 'wallet_mismatch', 'and only for the wallet');
  given([bobs, linked]).when(verify(), after(30)).refuses(t, 'challenge_expired');
  given([bobs, linked, bobIsOut]).when(verify()).decides(t, verified());
  const proven = [bobs, linked, bobIsOut, verified()];
  given(proven).when(itself).refuses(t, 'wallet_linked', 'a wallet that has signed is given away no more');
  given(proven)
    .when({ ...link, nick: 'bob' })
    .refuses(t, 'wallet_linked');
  given(proven).when({ is: 'unlink', nick: 'bob' }).refuses(t, 'wallet_not_linked');
  given([bobs, linked, unlinked])
    .when({ ...link, nick: 'carl', identified: true })
    .decides(t, { type: 'identity.linked', data: { nick: 'carl', wallet_address, identified: true } });
  const state = registryDecider.initial();
  for (const fact of [bobs, linked, unlinked, bobIsOut]) registryDecider.evolve(state, fact);
  t.same([state.links.size, state.nicks.size], [0, 0], 'nothing is kept of claims that are over');
});

t.test('IDENT-07 challenges', async (t) => {
  const ask: RegistryCommand = { is: 'challenge', nick };
  given([]).when(ask).refuses(t, 'wallet_not_linked');
  given([linked]).when(ask).decides(t, undefined, 'a challenge is no fact');
  given([linked, ...older])
    .when(ask)
    .decides(t, undefined, 'whatever earlier versions recorded');
  given([linked, verified()]).when(ask).refuses(t, 'already_verified');
  const asked = { link: 7, nick, hex: 'a1b2c3' };
  const first = withChallenge(undefined, asked, noon);
  t.same(first, { record: { link: 7, challenges: [challenge] }, challenge, isNew: true });
  const second = withChallenge(first.record, asked, after(1));
  t.equal(second.challenge.text, `svc:verify:${nick}:${seconds + 60}:a1b2c3`, 'a new one');
  t.same(second.record.challenges, [challenge, second.challenge], 'beside the first');
  t.same(challengesOf(second.record, 7), second.record.challenges);
  t.same(challengesOf(second.record, 8), [], 'they die with their link');
  t.same(challengesOf(undefined, 7), []);
  t.same(withChallenge(second.record, { ...asked, link: 8 }, noon).record.challenges, [challenge]);
});

t.test('IDENT-28 the sixth challenge in ten minutes is the fifth one again', async (t) => {
  const ask = (known: LinkChallenges | undefined, minutes: number) =>
    withChallenge(known, { link: 7, nick, hex: 'a1b2c3' }, after(minutes));
  let known: LinkChallenges | undefined;
  for (const minutes of [-9, -7, -5, -3, -1]) {
    const asked = ask(known, minutes);
    t.ok(asked.isNew, 'the fifth is one more, as those before');
    known = asked.record;
  }
  const last = known!.challenges.at(-1)!;
  for (const minutes of [0, 0.99])
    t.match(ask(known, minutes), { isNew: false, challenge: last, record: known! });
  const next = ask(known, 1);
  t.match(
    next,
    { isNew: true, challenge: { expiresAt: after(31).getTime() } },
    'ten minutes after the first',
  );
  t.match(ask(next.record, 2.9), { isNew: false, challenge: next.challenge }, 'the window moves on');
  t.ok(withChallenge(known, { link: 8, nick, hex: 'ffffff' }, noon).isNew, 'a new link begins anew');
  for (let minutes = 1; minutes < 200; minutes += 0.25) known = ask(known, minutes).record;
  t.ok(known!.challenges.length <= 16, 'no more is kept than can be answered');
  const afterAll = ask(known, 300).record;
  t.equal(afterAll.challenges.length, 1, 'what is over is forgotten');
});

t.test('IDENT-08 IDENT-09 verification', async (t) => {
  given([linked]).when(verify()).decides(t, verified());
  given([linked, ...older])
    .when(verify())
    .decides(t, verified(), 'whatever earlier versions recorded');
  given([linked])
    .when(verify({ signer: wallet_address.toLowerCase(), agent_id: 0 }))
    .decides(t, verified(0));
  given([]).when(verify()).refuses(t, 'wallet_not_linked');
  given([linked])
    .when(verify({ challenge: undefined }))
    .refuses(t, 'challenge_missing');
  given([linked, verified()]).when(verify()).refuses(t, 'challenge_missing', 'a challenge is used once');
  given([linked]).when(verify(), after(29.9)).decides(t, verified());
  given([linked]).when(verify(), after(30)).refuses(t, 'challenge_expired');
  given([linked])
    .when(verify({ signer: other }))
    .refuses(t, 'wallet_mismatch');
  given([linked])
    .when(verify({ signer: undefined }))
    .refuses(t, 'signature_invalid');
  given([linked])
    .when(verify({ link: 5 }))
    .refuses(t, 'challenge_missing', 'a challenge dies with its link');
  const state = registryDecider.initial();
  registryDecider.evolve(state, linked, 3);
  registryDecider.evolve(state, unlinked, 4);
  registryDecider.evolve(state, linked, 5);
  t.equal(state.links.get(nick)?.id, 5, 'each link is another');
});

t.test('IDENT-16 agent ids', async (t) => {
  const note = (agent_id: number | null, address = wallet_address): RegistryCommand => ({
    is: 'note agent',
    nick,
    agent_id,
    wallet_address: address,
  });
  const changed = (agent_id: number | null, sync_version: number): IdentityFact => ({
    type: 'identity.agent_changed',
    data: { nick, wallet_address, agent_id, sync_version },
  });
  const known = [linked, verified()];
  given(known).when(note(0)).decides(t, changed(0, 2));
  given([...known, changed(0, 2)])
    .when(note(0))
    .decides(t, undefined);
  given([...known, changed(0, 2)])
    .when(note(null))
    .decides(t, changed(null, 3));
  given([linked]).when(note(5)).decides(t, undefined, 'not verified');
  given([]).when(note(5)).decides(t, undefined, 'not linked any more');
  given(known).when(note(5, other)).decides(t, undefined, 'linked with another wallet meanwhile');
});

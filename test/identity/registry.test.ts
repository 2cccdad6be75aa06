import t from 'tap';
import {
  type IdentityFact,
  levelOf,
  type RegistryCommand,
  registryDecider,
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
const challenge = `svc:verify:${nick}:${seconds}:a1b2c3`;
const issued = (via: 'api' | 'irc' = 'api', at = noon, text = challenge): IdentityFact => ({
  type: 'challenge.issued',
  data: { nick, challenge: text, expires_at: new Date(at.getTime() + 1_800_000).toISOString(), via },
});
const verify = (
  fields: Partial<RegistryCommand & { is: 'verify' }> = {},
): RegistryCommand & { is: 'verify' } => ({
  is: 'verify',
  nick,
  via: 'api',
  challenge,
  signer: wallet_address,
  agent_id: null,
  ...fields,
});
const verified = (agent_id: number | null = null, sync_version = 1): IdentityFact => ({
  type: 'identity.verified',
  data: { nick, wallet_address, agent_id, sync_version },
});
const failed = (at = noon, reason: 'wallet_mismatch' | 'signature_invalid' = 'wallet_mismatch') =>
  ({ type: 'verification.failed', data: { nick, reason, attempted_at: at.toISOString() } }) as IdentityFact;

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
  given([
    linked,
    issued(),
    verified(4),
    { type: 'identity.unlinked', data: { ...unlinked.data, sync_version: 1 } },
  ])
    .when({ is: 'challenge', nick, via: 'api', hex: '000000' })
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
  given([bobs, linked, issued()]).when(verify()).decides(t, bobIsOut, 'the claim of another ends first');
  given([bobs, linked, issued()])
    .when(verify({ signer: other }))
    .refuses(t, 'wallet_mismatch', 'and only for the wallet');
  given([bobs, linked, issued()]).when(verify(), after(30)).refuses(t, 'challenge_expired');
  given([bobs, linked, issued(), bobIsOut]).when(verify()).decides(t, verified());
  const proven = [bobs, linked, issued(), bobIsOut, verified()];
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
  const ask = (via: 'api' | 'irc' = 'api'): RegistryCommand => ({
    is: 'challenge',
    nick,
    via,
    hex: 'a1b2c3',
  });
  given([]).when(ask()).refuses(t, 'wallet_not_linked');
  given([linked]).when(ask()).decides(t, issued());
  given([linked, issued()])
    .when(ask(), after(1))
    .decides(t, issued('api', after(1), `svc:verify:${nick}:${seconds + 60}:a1b2c3`), 'a new one');
  given([linked, issued(), verified()]).when(ask()).refuses(t, 'already_verified');
});

t.test('IDENT-28 the sixth challenge in ten minutes is the fifth one again', async (t) => {
  const ask: RegistryCommand = { is: 'challenge', nick, via: 'api', hex: 'a1b2c3' };
  const times = [-9, -7, -5, -3, -1];
  const asked = times.map((minutes) => issued('api', after(minutes), `text ${minutes}`));
  given([linked, ...asked.slice(1)])
    .when(ask)
    .decides(t, issued(), 'the fifth is one more, as those before');
  given([linked, ...asked])
    .when(ask)
    .decides(t, undefined, 'the present one stays');
  given([linked, ...asked])
    .when({ ...ask, via: 'irc' })
    .decides(t, undefined, 'over IRC too');
  given([linked, ...asked])
    .when(verify({ challenge: 'text -1' }))
    .decides(t, verified(), 'and can be answered');
  given([linked, ...asked])
    .when({ ...ask, hex: 'ffffff' }, after(0.99))
    .decides(t, undefined);
  given([linked, ...asked])
    .when(ask, after(1))
    .decides(
      t,
      issued('api', after(1), `svc:verify:${nick}:${seconds + 60}:a1b2c3`),
      'ten minutes after the first',
    );
  given([linked, ...asked, issued('api', after(1), 'text 1')])
    .when(ask, after(2.9))
    .decides(t, undefined, 'the window moves on');
  given([linked, ...asked])
    .when({ ...ask, nick: 'bob' })
    .refuses(t, 'wallet_not_linked', 'another nick is not meant');
  given([linked, ...asked, unlinked, linked])
    .when(ask)
    .decides(t, issued(), 'a new link begins anew: who may link may as well record');
  const state = registryDecider.initial();
  for (const fact of [linked, ...asked, ...asked]) registryDecider.evolve(state, fact);
  t.equal(state.links.get(nick)?.challenge?.issuedAt.length, 5, 'no more is kept than needed');
});

t.test('IDENT-08 IDENT-09 verification', async (t) => {
  given([linked, issued()]).when(verify()).decides(t, verified());
  given([linked, issued()])
    .when(verify({ signer: wallet_address.toLowerCase(), agent_id: 0 }))
    .decides(t, verified(0));
  given([]).when(verify()).refuses(t, 'wallet_not_linked');
  given([linked])
    .when(verify({ challenge: undefined }))
    .refuses(t, 'challenge_missing');
  given([linked, issued(), verified()])
    .when(verify())
    .refuses(t, 'challenge_missing', 'a challenge is used once');
  const more = Array.from({ length: 14 }, (_, n) => issued('api', after(2 * n), `another ${n}`));
  given([linked, issued(), ...more])
    .when(verify(), after(29.9))
    .decides(t, verified(), 'who asks for others does not void the first one');
  given([linked, issued(), ...more])
    .when(verify(), after(30))
    .refuses(t, 'challenge_expired');
  given([linked, issued(), ...more, issued('api', after(31), 'at last')])
    .when(verify(), after(31))
    .refuses(t, 'challenge_missing', 'what is over is forgotten');
  given([linked, issued(), ...more, verified()])
    .when(verify({ challenge: 'another 3' }), after(29))
    .refuses(t, 'challenge_missing', 'once one was answered all are over');
  given([linked, issued()]).when(verify(), after(29.9)).decides(t, verified());
  given([linked, issued()]).when(verify(), after(30)).refuses(t, 'challenge_expired');
  given([linked, issued()])
    .when(verify({ signer: other }))
    .refuses(t, 'wallet_mismatch');
  given([linked, issued()])
    .when(verify({ signer: undefined }))
    .refuses(t, 'signature_invalid');
  given([
    linked,
    issued(),
    unlinked,
    { type: 'identity.linked', data: { ...linked.data, wallet_address: other } },
  ])
    .when(verify({ challenge: undefined, signer: other }))
    .refuses(t, 'challenge_missing', 'a challenge dies with its link');
});

t.test('IDENT-13 three attempts in ten minutes over IRC', async (t) => {
  const wrong = verify({ via: 'irc', signer: other });
  const three = [failed(after(-9)), failed(after(-5)), failed(after(-1))];
  given([linked, issued()]).when(wrong).decides(t, failed());
  given([linked, issued()])
    .when(verify({ via: 'irc', signer: undefined }))
    .decides(t, failed(noon, 'signature_invalid'));
  given([linked, issued(), ...three])
    .when(wrong)
    .refuses(t, 'rate_limited');
  given([linked, issued(), ...three])
    .when(verify({ via: 'irc' }))
    .refuses(t, 'rate_limited', 'right ones too: who guesses must not learn');
  given([linked, issued(), ...three])
    .when(verify())
    .decides(t, verified(), 'the API is apart');
  given([linked, issued(), ...three])
    .when(wrong, after(1))
    .decides(t, failed(after(1)), 'the first is ten minutes ago');
  given([linked, issued(), ...three, failed(after(1))])
    .when(wrong, after(4.9))
    .refuses(t, 'rate_limited');
  given([linked, issued(), ...three, unlinked, linked, issued()])
    .when(wrong)
    .refuses(t, 'rate_limited', 'an unlink does not help');
  const ask: RegistryCommand = { is: 'challenge', nick, via: 'irc', hex: 'a1b2c3' };
  const asked = [issued('irc', after(-3)), issued('irc', after(-2)), issued('irc', after(-1))];
  given([linked, ...asked])
    .when(ask)
    .refuses(t, 'rate_limited', 'challenges are counted by themselves');
  given([linked, ...asked.slice(1), ...three])
    .when(ask)
    .decides(t, issued('irc'));
  given([linked, ...asked])
    .when({ ...ask, via: 'api' })
    .decides(t, issued('api'));
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
  const known = [linked, issued(), verified()];
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

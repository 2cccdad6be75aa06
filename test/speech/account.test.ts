import t from 'tap';
import { keysStage } from '../keys/stage.js';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf } from '../support/ircd.js';

t.test('SPEAK-13 an agent is identified with its account', { skip: withoutAnope }, async (t) => {
  const { ircd, register } = await startAccountNetwork(t);
  const owner = await observe(ircd.port, { nick: 'alice' });
  await register(owner, 'secret-password');
  owner.stop();
  const { ask, given } = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    ROLES: 'all',
  });
  const { headers } = await given('alice', ['speak']);
  const connect = (body: object) => ask('POST', '/irc/connection', body, headers);
  const answer = await eventually('the gateway', async () => {
    const found = await connect({});
    return found.status === 200 && found;
  });
  t.match(answer.body, { connected: true, identified: false });
  t.match(await connect({ password: 'wrong' }), {
    status: 403,
    body: { code: 'account_refused', hint: /password of the account/ },
  });
  t.match(await connect({ password: 'secret-password' }), {
    status: 200,
    body: { connected: true, nick: 'alice', identified: true },
  });
  const witness = await observe(ircd.port, { nick: 'witness' });
  t.teardown(() => witness.stop());
  await witness.ask('WHOIS alice');
  t.ok(
    witness.raw.some((line) => / 330 witness alice alice /.test(line)),
    'the network knows the account',
  );
});

import t from 'tap';
import { ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { inputOf } from '../../src/operations/core/call.js';
import {
  type AgentCaller,
  type Caller,
  holds,
  nobody,
  type Scope,
} from '../../src/operations/core/caller.js';
import { moreWithKey, requireRight, scope } from '../../src/operations/core/rights.js';
import { voteOnSecurityIncident } from '../../src/operations/incidents/commands.js';
import { operations } from '../../src/operations/index.js';
import { callHere } from '../support/operations.js';

const alice = (...scopes: Scope[]): AgentCaller => ({
  is: 'agent',
  actor: 'agent:alice:k1',
  key: 'k1',
  nick: 'alice',
  wallet: '0xabc',
  scopes,
});
const operator: Caller = { is: 'key', actor: 'ops' };
const local: Caller = { is: 'local', actor: 'local' };
const wallet: Caller = { is: 'wallet', actor: '0xabc' };

t.test('KEY-01 what each caller may', async (t) => {
  const vote = scope('vote', { as: 'voter', wallet: 'proven' });
  for (const caller of [operator, local, wallet, alice('vote')])
    requireRight(vote, caller, { voter: 'Alice' });
  t.throws(() => requireRight(vote, nobody), {
    status: 401,
    code: 'api_key_required',
    extra: { hint: /X-Api-Key.*POST \/auth\/keys: \/auth\.md/ },
  });
  t.throws(() => requireRight(scope('tasks'), wallet), { status: 401, code: 'api_key_required' });
  t.throws(() => requireRight(vote, alice('rate', 'read')), {
    status: 403,
    code: 'scope_missing',
    message: /vote/,
    extra: { hint: /POST \/auth\/keys .* \{"scopes": \["read", "vote"\]\}.*\/auth\.md/ },
  });
  t.throws(() => requireRight(scope('tasks'), alice('read')), {
    code: 'scope_missing',
    extra: { hint: /An operator gives keys for tasks/ },
  });
  t.throws(() => requireRight(vote, alice('vote', 'operate'), { voter: 'bob' }), {
    status: 403,
    code: 'not_your_nick',
    message: /alice/,
  });
  requireRight(vote, operator, { voter: 'bob' });
  requireRight(moreWithKey, nobody);
  requireRight(moreWithKey, alice('rate'));
  t.throws(() => requireRight(scope('operate', { without: 'local' }), alice('read')), {
    code: 'scope_missing',
  });
  t.ok(holds(operator, 'operate'));
  t.notOk(holds(wallet, 'read'));
});

t.test('KEY-02 an agent key need not say whom it acts as', async (t) => {
  const vote = { id: 'inc-k3mf7q2x', score: 90 };
  t.match(inputOf(voteOnSecurityIncident, vote, alice('vote')), { voterNick: 'alice' });
  t.throws(() => inputOf(voteOnSecurityIncident, vote, operator), { code: 'validation_failed' });
  t.match(inputOf(voteOnSecurityIncident, { ...vote, voterNick: 'bob' }, alice('vote')), {
    voterNick: 'bob',
  });
});

t.test('KEY-03 an agent sees the tools that its key is good for, and calls no other', async (t) => {
  const table = new ToolTable(toolsOf(operations, callHere({})));
  const names = (...scopes: Scope[]) => table.listFor(alice(...scopes)).tools.map(({ name }) => name);
  t.same(names('rate', 'report'), ['svc_give_feedback', 'svc_security_report']);
  t.equal(
    names('read').length,
    57 - 20 - 5 + 3,
    'five reads of the marketplace are with the operator’s credential; catching up, finding agents and floors are for agents alone',
  );
  t.same(names('speak'), [
    'svc_say',
    'svc_join',
    'svc_part',
    'svc_away',
    'svc_back',
    'svc_inbox',
    'svc_set_webhook',
    'svc_get_webhook',
    'svc_remove_webhook',
    'svc_webhook_secret',
    'svc_webhook_on',
    'svc_webhook_dead_letters',
    'svc_redrive_webhook',
    'svc_publish_abilities',
  ]);
  t.equal(names('read', 'rate', 'report', 'vote', 'tasks', 'deliberate').length, 57 + 3);
  t.equal(table.listFor(operator).tools.length, 57);
  t.equal(table.listFor(wallet).tools.length, 24);
  const [listed] = table.listFor(alice('rate')).tools;
  t.same(listed!.inputSchema.required, ['nick', 'channel', 'rating'], 'its own nick is known');
  t.match(listed!.description, /Scope: rate, for their own nick/);
  t.match(await table.call('svc_em_create_task', {}, alice('rate')), {
    isError: true,
    content: [{ text: /^Error: This key is not good for tasks/ }],
  });
  t.match(await table.call('svc_get_stats', {}, alice('rate')), {
    isError: true,
    content: [{ text: /not good for read/ }],
  });
  await t.rejects(table.call('svc_no_such', {}, alice('rate')), { code: -32602 });
});

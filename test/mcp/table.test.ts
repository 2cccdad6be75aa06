import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import t from 'tap';
import { z } from 'zod';
import { stdioToolsOf, type Tier, ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { channelOperations } from '../../src/operations/channels/index.js';
import { type Caller, defineOperation } from '../../src/operations/core/operation.js';
import { operations } from '../../src/operations/index.js';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { callHere } from '../support/operations.js';

const key: Caller = { is: 'key', actor: 'ann' };
const wallet: Caller = { is: 'wallet', actor: '0xabc' };
/** Nothing is asked of them here. */
const tools = toolsOf(operations, callHere({}));

const walletReadable =
  `svc_get_stats svc_list_channels svc_get_messages svc_list_paid_channels svc_get_paid_channel
  svc_guardian_stats svc_get_agent svc_list_agents svc_health svc_identity_lookup svc_get_agent_profile
  svc_get_leaderboard svc_get_channel_score svc_get_agent_reputation svc_security_stats svc_security_incidents
  svc_security_incident_details svc_security_consensus multibrain_list_models svc_economic_activity
  svc_em_list_tasks svc_em_available_tasks svc_em_search_tasks svc_em_get_task`.split(/\s+/);
const spending = `svc_em_create_task svc_em_approve_task svc_em_confirm_cancel_task svc_em_resolve_dispute
  svc_em_send_tip multibrain_submit_query`.split(/\s+/);
const changing =
  `${spending.join(' ')} svc_em_apply_task svc_em_bid_task svc_em_submit_evidence svc_em_reject_task
  svc_em_cancel_task svc_em_mutual_cancel_task svc_em_open_dispute svc_em_declare_availability
  svc_em_cancel_availability svc_em_create_relay_chain svc_em_assign_relay_leg svc_give_feedback
  svc_security_report svc_security_vote`.split(/\s+/);
const others =
  `svc_get_sessions svc_guardian_incidents svc_guardian_reputation svc_cert_status multibrain_query_status
  multibrain_get_result multibrain_get_responses multibrain_hot_queries svc_em_get_dispute
  svc_em_find_available_workers svc_em_get_escrow svc_em_get_earnings svc_em_get_relay_chain`.split(/\s+/);

t.test('MCP-01 the tools of each tier', async (t) => {
  const table = new ToolTable(tools);
  t.same(table.counts('keyed'), { tools: 57, mutating: 20, moves_money: 6 });
  t.same(table.counts('wallet-read'), { tools: 24, mutating: 0, moves_money: 0 });
  const names = (tier: Tier) =>
    table
      .list(tier)
      .map(({ name }) => name)
      .sort();
  t.same(names('wallet-read'), [...walletReadable].sort());
  t.same(names('keyed'), [...walletReadable, ...changing, ...others].sort());
});

t.test('MCP-02 the three local ones', async (t) => {
  const own = stdioToolsOf(channelOperations, callHere({}));
  t.same(
    own.map(({ name }) => name),
    ['svc_update_channel', 'svc_channel_members', 'svc_channel_operations'],
  );
  const ofContract = tools.filter(({ ofAgents }) => !ofAgents);
  t.equal(new Set([...ofContract, ...own].map(({ name }) => name)).size, 60);
});

t.test('MCP-03 what an agent is told of each', async (t) => {
  for (const { name, title, description, annotations, inputSchema, outputSchema } of new ToolTable(
    tools,
  ).list('keyed')) {
    t.ok(title && title.length > 3, `${name} has a title`);
    t.ok(description && description.length > 20, `${name} is described`);
    t.match(inputSchema, { type: 'object' });
    if (outputSchema) t.match(outputSchema, { type: 'object' });
    const changes = changing.includes(name);
    t.match(annotations, {
      readOnlyHint: !changes,
      openWorldHint: /^(svc_em_|multibrain_|svc_economic)/.test(name),
    });
    t.equal(annotations?.destructiveHint, changes ? spending.includes(name) : undefined, `${name} spends`);
    if (!changes) t.equal(annotations?.idempotentHint, true);
    t.ok(JSON.stringify(inputSchema).length < 1_000, `${name} is read in one look`);
  }
});

t.test('MCP-03 the whole list is short enough to be read by each client to its model', (t) => {
  const text = JSON.stringify(new ToolTable(tools).list('keyed'));
  const tokens = new Tiktoken(o200k).encode(JSON.stringify({ tools: JSON.parse(text) })).length;
  t.comment(`${tokens} tokens`);
  // some room is left below the 10,000 that are promised
  t.ok(tokens < 9_950, `${tokens} tokens`);
  t.notMatch(text, /9007199254740991|\$schema|"additionalProperties":|"type":\[|02-29|"propertyNames":/);
  t.end();
});

const [echo] = toolsOf(
  [
    defineOperation('echo', {
      input: z.object({ words: z.array(z.string()).min(1), times: z.int().max(3).default(1) }),
      tool: {
        name: 'echo',
        title: 'Echo',
        description: 'Says what it was told',
        output: z.object({ items: z.array(z.string()) }),
        walletReadable: true,
      },
      run: async ({ words, times }) => Array.from({ length: times }, () => words).flat(),
    }),
  ],
  callHere({}),
);
const failing = (error: unknown) => {
  const fail = defineOperation('fail', {
    tool: { name: 'fail', title: 'Fail', description: 'Fails' },
    run: async () => {
      throw error;
    },
  });
  return toolsOf([fail], callHere({}))[0]!;
};

t.test('MCP-04 MCP-06 results and wrong arguments', async (t) => {
  const calls: unknown[] = [];
  const table = new ToolTable([echo!], { call: (call) => calls.push(call) });
  t.same(await table.call('echo', { words: ['a'], times: 2 }, wallet), {
    content: [{ type: 'text', text: '[\n  "a",\n  "a"\n]' }],
    structuredContent: { items: ['a', 'a'] },
  });
  t.match(
    await table.call('echo', { words: ['a'], colour: 'red', 'not a name': 1 }, key),
    { _meta: { ignored_arguments: ['colour'] } },
    'what was not asked for is told',
  );
  t.match(await table.call('echo', { words: [], times: 4 }, key), {
    isError: true,
    content: [
      { text: 'Error: words: must have at least 1 entries; times: must be at most 3' },
      { text: 'Code: validation_failed' },
    ],
    _meta: { code: 'validation_failed', status: 400 },
  });
  t.match(await table.call('echo', undefined, key), {
    isError: true,
    content: [{ text: 'Error: words: is missing' }],
  });
  t.match(calls, [
    { tool: 'echo', tier: 'wallet-read', actor: '0xabc', failed: false, ms: Number },
    { failed: false },
    { failed: true },
    { failed: true },
  ]);
});

t.test('MCP-06 a wrong argument is named as the tool names it', async (t) => {
  const find = defineOperation('find', {
    input: z.object({ id: z.object({ number: z.int() }), limit: z.int().default(5) }),
    tool: {
      name: 'find',
      title: 'Find',
      description: 'Finds a task',
      rename: { id: 'task_id' },
      without: ['limit'],
    },
    run: async (input) => input,
  });
  const table = new ToolTable(toolsOf([find], callHere({})));
  t.match(await table.call('find', { id: { number: 1 } }, key), {
    content: [{ text: 'Error: task_id: is missing' }],
  });
  t.match(await table.call('find', { task_id: { number: 'one' } }, key), {
    content: [{ text: 'Error: task_id.number: must be a number' }],
  });
  const { content } = await table.call('find', { task_id: { number: 1 }, limit: 9 }, key);
  t.same(JSON.parse((content[0] as { text: string }).text), { id: { number: 1 }, limit: 5 });
});

t.test('MCP-06 what is not theirs is not there', async (t) => {
  const table = new ToolTable([failing(new Error('x'))]);
  const unknown = { code: -32602, message: 'Unknown tool: fail' };
  await t.rejects(table.call('fail', {}, wallet), unknown);
  await t.rejects(new ToolTable([]).call('fail', {}, key), unknown);
  await t.rejects(table.call('__proto__', {}, key), { code: -32602 });
});

t.test('MCP-06 an unknown tool is told with the nearest one that the caller has', async (t) => {
  const table = new ToolTable([echo!, failing(new Error('x'))]);
  const near = {
    message: 'Unknown tool: Ecko. Did you mean echo?',
    data: { code: 'unknown_tool', nearest: 'echo' },
  };
  await t.rejects(table.call('Ecko', {}, key), near);
  await t.rejects(table.call('fali', {}, key), {
    message: /Did you mean fail/,
    data: { nearest: 'fail', hint: /: 2\./ },
  });
  const far = { message: 'Unknown tool: fali', data: { code: 'unknown_tool', hint: /: 1\. .*\/auth\.md/ } };
  await t.rejects(table.call('fali', {}, wallet), far);
  const long = 'x'.repeat(100_000);
  await t.rejects(table.call(long, {}, key), { message: `Unknown tool: ${long}` });
});

t.test('MCP-05 what goes wrong in a tool is said', async (t) => {
  const bugs: unknown[] = [];
  const said = async (error: unknown) => {
    const table = new ToolTable([failing(error)], { bug: (bug) => bugs.push(bug) });
    const { isError, content } = await table.call('fail', {}, key);
    t.equal(isError, true);
    return content.map((part) => (part as { text: string }).text);
  };
  t.same(await said(new Refusal('not_found', 'nobody is there')), [
    'Error: nobody is there',
    'Code: not_found',
  ]);
  t.same(await said(new Refusal({ code: 'no', status: 409 }, 'Already voted', { hint: 'Once only' })), [
    'Error: Already voted',
    'Code: no',
    'Hint: Once only',
  ]);
  t.same(await said(new Unavailable({ code: 'down', status: 503 }, 'The store is away')), [
    'Error: The store is away',
    'Code: down',
  ]);
  t.same(bugs, []);
  t.same(await said(new TypeError('secret details')), [
    'Error: Something went wrong on our side',
    'Code: internal_error',
  ]);
  t.match(bugs, [{ message: 'secret details' }]);
});

import t from 'tap';
import type { z } from 'zod';
import { type Tool, toolsOf } from '../../src/mcp/tools.js';
import { createCall } from '../../src/operations/core/call.js';
import { type Scope, scopes } from '../../src/operations/core/caller.js';
import { exampleOf } from '../../src/operations/core/example.js';
import { operations } from '../../src/operations/index.js';
import { keysStage, operator } from './stage.js';

/**
 * An example of a parameter; any word if it has none. Rights are checked before it, except for the nick that
 * the caller acts as.
 */
function example(parameter: z.ZodType): unknown {
  try {
    return exampleOf(parameter);
  } catch {
    return '#lobby';
  }
}

/** The tools as they are defined, with arguments that their parameters give as examples. */
const tools = toolsOf(operations, createCall({ parts: {}, remote: () => undefined })).map((tool) => {
  const shape = Object.entries(tool.input.shape as Record<string, z.ZodType>);
  const args = Object.fromEntries(shape.map(([name, parameter]) => [name, example(parameter)]));
  return { ...tool, args: tool.ownNick === undefined ? args : { ...args, [tool.ownNick]: 'alice' } };
});

/** What a caller is told about its credential; `undefined` if it may call. */
function verdict(answer: Answer): 'unknown' | 'scope' | 'nick' | 'credential' | undefined {
  if (answer.error?.message.startsWith('Unknown tool')) return 'unknown';
  if (answer.error) return 'credential';
  const text = answer.result?.isError ? answer.result.content[0]!.text : '';
  if (text.includes('This key is not good for')) return 'scope';
  return text.includes('You act here as') ? 'nick' : undefined;
}

t.test('KEY-10 every tool answers each caller as its description promises', async (t) => {
  const { ask, signed, given, proven, tool } = await keysStage(t, {
    KEY_RATE_LIMIT: '0',
    NICK_RATE_LIMIT: '0',
  });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const called = (name: string, args: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  const listed = async (headers: Record<string, string>) =>
    (await ask('POST', '/mcp', list, headers)).body.result.tools as ListedTool[];
  t.ok(tools.length > 50, `${tools.length} tools`);

  await t.test('the descriptions are those of the operations', async (t) => {
    const described = new Map((await listed(operator)).map((one) => [one.name, one.description]));
    const ofContract = tools.filter(({ ofAgents }) => !ofAgents);
    t.same([...described.keys()].sort(), ofContract.map(({ name }) => name).sort());
    for (const { name, scope, ownNick } of ofContract)
      t.match(described.get(name), `Scope: ${scope}${ownNick ? ', for their own nick' : ''}.`, name);
  });

  await t.test('nobody, and the operator', async (t) => {
    for (const { name, args, ofAgents } of tools) {
      const answer = await ask('POST', '/mcp', called(name, args));
      t.match(answer, { status: 401, body: { error: {} } }, `${name}: nobody`);
      const wanted = ofAgents ? 'unknown' : undefined;
      t.equal(verdict(await tool(name, args, operator)), wanted, `${name}: the operator`);
    }
  });

  await t.test('a wallet, whoever it belongs to', async (t) => {
    const wallet = await proven('zoe');
    const names = ((await signed(wallet, 'POST', '/mcp', list)).body.result.tools as ListedTool[]).map(
      ({ name }) => name,
    );
    t.same(names.sort(), tools.flatMap((one) => (one.walletReadable ? [one.name] : [])).sort());
    for (const { name, args, walletReadable } of tools) {
      const { body } = await signed(wallet, 'POST', '/mcp', called(name, args));
      t.equal(verdict(body), walletReadable ? undefined : 'unknown', name);
    }
  });

  await t.test('agent keys that are good for everything', async (t) => {
    const own = await given('alice', [...scopes]);
    const another = await given('bob', [...scopes]);
    for (const { name, args, ownNick } of tools) {
      t.equal(verdict(await tool(name, args, own.headers)), undefined, `${name}: its own`);
      const foreign = verdict(await tool(name, args, another.headers));
      t.equal(foreign, ownNick === undefined ? undefined : 'nick', `${name}: of another`);
    }
    t.equal((await ask('DELETE', `/auth/keys/${own.id}`, undefined, operator)).status, 200);
  });

  for (const scope of scopes) {
    await t.test(`an agent key that is good for ${scope}`, async (t) => {
      const key = await given('alice', [scope]);
      const isOpen = (one: { scope: Scope }) => one.scope === scope;
      const names = (await listed(key.headers)).map(({ name }) => name).sort();
      t.same(names, tools.flatMap((one) => (isOpen(one) ? [one.name] : [])).sort());
      for (const one of tools)
        t.equal(
          verdict(await tool(one.name, one.args, key.headers)),
          isOpen(one) ? undefined : 'scope',
          one.name,
        );
      t.equal((await ask('DELETE', `/auth/keys/${key.id}`, undefined, operator)).status, 200);
    });
  }
});

type ListedTool = Pick<Tool, 'name' | 'description'>;
interface Answer {
  error?: { message: string };
  result?: { isError?: boolean; content: { text: string }[] };
}

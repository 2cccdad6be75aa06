import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { prompts } from '../../src/mcp/prompts.js';
import { mostSubscriptions, Subscriptions } from '../../src/mcp/subscriptions.js';
import { toolsOf } from '../../src/mcp/tools.js';
import { operations } from '../../src/operations/index.js';
import { keysStage, operator, operatorKey } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { callHere } from '../support/operations.js';
import { nodeArgs } from '../support/programs.js';

const room = '#task-00000001';
const hidden = 'relay://channels/task-00000001';

t.test('resources and prompts', async (t) => {
  const ircd = await startIrcd(t);
  const { app, ask, given } = await keysStage(t, {
    ...settingsOf(ircd),
    ROLES: 'all',
  });
  const { headers: alice } = await given('alice', ['read']);
  const { headers: speaker } = await given('bob', ['speak']);
  const rpc = async (method: string, params: object, headers = operator) =>
    (await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers)).body;
  const talker = await observe(ircd.port, {
    nick: 'talker',
    password: ircd.serverPassword,
    channels: ['#lobby'],
  });
  t.teardown(() => talker.stop());
  const textOf = async (uri: string) =>
    (await rpc('resources/read', { uri })).result?.contents[0].text as string;
  await eventually('the recorder to be there', async () => {
    talker.send('PRIVMSG #lobby :good morning');
    return (await textOf('relay://channels/lobby'))?.includes('good morning');
  });
  await eventually('the room', async () => {
    const made = { name: room, type: 'task', modes: '+int', topic: 'private', invite_list: [] };
    const { status } = await ask('POST', '/channels', made, operator);
    return [201, 409].includes(status);
  });

  t.test('MCP-21 channels and the files of the skill are resources', async (t) => {
    const listed = async (headers: typeof operator) =>
      (await rpc('resources/list', {}, headers)).result.resources.map(
        ({ uri }: { uri: string }) => uri,
      ) as string[];
    const all = await eventually('the room in the list', async () => {
      const uris = await listed(operator);
      return uris.includes(hidden) && uris;
    });
    t.ok(all.includes('relay://channels/lobby'));
    t.ok(all.includes('relay://skill/SKILL.md'));
    t.match((await rpc('resources/templates/list', {})).result.resourceTemplates, [
      { uriTemplate: 'relay://channels/{channel}' },
      { uriTemplate: 'relay://skill/{file}' },
    ]);
    const second = (await rpc('resources/list', { cursor: all[1] })).result.resources;
    t.equal(second[0].uri, all[2], 'a page goes on after the last resource of the one before');
    for (const uri of all)
      t.match((await rpc('resources/read', { uri })).result, { contents: [{ uri, text: String }] });
    t.match(JSON.parse(await textOf('relay://channels/%23LOBBY')), {
      channels: [{ channel: '#LOBBY', lines: [/^\d\d:\d\d <talker> good morning$/] }],
      next: /^\d+-\d+$/,
    });
    t.match(await textOf('relay://skill/MESSAGING.md'), /^# /m);

    t.notOk((await listed(alice)).includes(hidden), 'a private channel is not listed to who is not in it');
    t.match(await rpc('resources/read', { uri: hidden }, alice), {
      error: { code: -32002, data: { code: 'not_found' } },
    });
    for (const uri of [
      'relay://channels/nowhere',
      'relay://skill/SECRET.md',
      'relay://skill/..%2Fpackage.json',
      'file:///etc/passwd',
      'relay://channels/%',
      'x'.repeat(5_000),
    ])
      t.match(
        await rpc('resources/read', { uri }),
        { error: { code: -32002, data: { code: 'not_found', hint: String } } },
        uri,
      );
    t.match(await rpc('resources/list', { cursor: 'here' }), { error: { code: -32602 } });
    for (const [method, params] of [
      ['resources/list', {}],
      ['resources/read', { uri: 'relay://channels/lobby' }],
    ] as const)
      t.match(
        await rpc(method, params, speaker),
        { error: { code: -32000, data: { code: 'scope_missing' } } },
        method,
      );
    t.match(await rpc('resources/subscribe', { uri: 'relay://channels/lobby' }), { error: { code: -32601 } });
  });

  t.test('MCP-22 prompts are those that the caller has the tools for', async (t) => {
    const names = async (headers: typeof operator) =>
      (await rpc('prompts/list', {}, headers)).result.prompts.map(({ name }: { name: string }) => name);
    t.same(await names(operator), ['catch_up', 'take_task', 'answer_incident']);
    t.same(await names(alice), ['catch_up']);
    t.same(await names(speaker), []);
    const tools = new Set(toolsOf(operations, callHere({})).map(({ name }) => name));
    for (const { name, needs, text } of prompts) {
      for (const given of ['x', undefined])
        for (const [tool] of text(given).matchAll(/svc_\w+/g))
          t.ok(
            tools.has(tool) && needs.includes(tool),
            `${name} names ${tool}, which is a tool that it needs`,
          );
    }
    const get = (name: string, args: object, headers = operator) =>
      rpc('prompts/get', { name, arguments: args }, headers);
    t.match((await get('catch_up', { channel: ' #lobby ' }, alice)).result.messages, [
      { role: 'user', content: { type: 'text', text: /said in #lobby, / } },
      { content: { type: 'resource', resource: { uri: 'relay://channels/lobby', text: /good morning/ } } },
    ]);
    t.match(await get('catch_up', { channel: room }, alice), { error: { code: -32002 } });
    t.match((await get('take_task', {})).result.messages, [{ content: { text: /svc_em_available_tasks/ } }]);
    t.match((await get('take_task', { task_id: 't7' })).result.messages, [
      { content: { text: /task t7 with/ } },
    ]);
    t.match((await get('answer_incident', { incident_id: 'i1' })).result.messages, [
      { content: { text: /i1/ } },
    ]);
    t.match(await get('answer_incident', {}), { error: { code: -32602, message: /incident_id is missing/ } });
    t.match(await get('take_task', { task_id: 'a\nIgnore all' }), { error: { code: -32602 } });
    t.match(await get('take_task', { task_id: 'x'.repeat(201) }), { error: { code: -32602 } });
    for (const name of ['nothing', 'toString'])
      t.match(await get(name, {}), { error: { code: -32602, data: { code: 'unknown_prompt' } } });
    t.match(
      await get('take_task', {}, alice),
      { error: { code: -32602 } },
      'without its tools it is unknown',
    );
  });

  t.test('MCP-23 a session of relay mcp is told when a channel has new lines', async (t) => {
    const session = async (key: string) => {
      const client = new Client({ name: 'test', version: '1' });
      const updates: string[] = [];
      client.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void updates.push(params.uri),
      );
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: nodeArgs('src/cli.ts', 'mcp', '--url', app.url),
          env: { PATH: process.env.PATH ?? '', RELAY_API_KEY: key },
        }),
      );
      t.teardown(() => client.close());
      return { client, updates };
    };
    const uri = 'relay://channels/lobby';
    const { client, updates } = await session(operatorKey);
    t.match(client.getServerCapabilities(), { tools: {}, prompts: {}, resources: { subscribe: true } });
    t.ok((await client.listResources()).resources.some((one) => one.uri === uri));
    t.match((await client.listPrompts()).prompts, [
      { name: 'catch_up' },
      { name: 'take_task' },
      { name: 'answer_incident' },
    ]);
    t.match(await client.getPrompt({ name: 'catch_up', arguments: { channel: '#lobby' } }), {
      messages: [{}, {}],
    });
    await client.subscribeResource({ uri });
    await client.subscribeResource({ uri });
    await client.subscribeResource({ uri: 'relay://skill/SKILL.md' });
    t.same(updates, []);
    talker.send('PRIVMSG #lobby :something new');
    await eventually('the update', async () => updates.length > 0);
    t.match((await client.readResource({ uri })).contents, [{ text: /something new/ }]);
    t.same(updates, [uri], 'once for a line, however often it was asked for');

    for (let n = 0; n < 5; n++) talker.send(`PRIVMSG #lobby :more ${n}`);
    await eventually('the next update', async () => updates.length > 1);
    t.match((await client.readResource({ uri })).contents, [{ text: /more 4/ }], 'once for lines in a row');
    t.same(updates, [uri, uri]);
    await client.unsubscribeResource({ uri });

    await t.rejects(client.subscribeResource({ uri: 'relay://channels/nowhere' }), { code: -32002 });
    const own = await session(alice['x-api-key']);
    await t.rejects(
      own.client.subscribeResource({ uri: hidden }),
      { code: -32002 },
      'not for who may not read it',
    );
  });
});

t.test(
  'MCP-23 a session has so many subscriptions at most, and a channel that ends makes room',
  async (t) => {
    const watched = new Map<string, AbortSignal>();
    const told: string[] = [];
    const ended: string[] = [];
    const lines = new Map<string, (end?: Error) => void>();
    let looks = 0;
    const subscriptions = new Subscriptions({
      watch: async function* (channel, { signal }) {
        watched.set(channel, signal);
        for (let id = 2; ; id++) {
          await new Promise<void>((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            lines.set(channel, (end) => (end ? reject(end) : resolve()));
          });
          yield { id: `${id}-0` };
        }
      },
      read: async (uri) => ({
        contents: [{ uri, text: JSON.stringify({ next: ++looks < 3 ? '1-0' : '2-0' }) }],
      }),
      tell: async (uri) => void told.push(uri),
      ended: (error) => ended.push(error.message),
    });
    const uri = (n: number) => `relay://channels/c${n}`;
    for (let n = 0; n < mostSubscriptions; n++) await subscriptions.add(uri(n));
    await subscriptions.add(uri(0));
    await subscriptions.add('relay://skill/SKILL.md');
    t.equal(watched.size, mostSubscriptions);
    const more = { code: -32000, data: { code: 'too_many_subscriptions', hint: String } };
    await t.rejects(subscriptions.add(uri(99)), more);
    lines.get('c1')!(new Error('the channel is private now'));
    await eventually('the end', async () => ended.length > 0);
    t.same(ended, ['the channel is private now']);
    await subscriptions.add(uri(99));
    await t.rejects(subscriptions.add(uri(1)), more);

    looks = 0;
    lines.get('c2')!();
    await eventually('the update', async () => told.length > 0);
    t.same(told, [uri(2)]);
    t.equal(looks, 3, 'when the line can be read, and not before');
    subscriptions.remove(uri(3));
    t.ok(watched.get('c3')?.aborted);
    subscriptions.close();
    t.ok([...watched.entries()].every(([channel, signal]) => channel === 'c1' || signal.aborted));
    await t.resolves(subscriptions.add(uri(1)));
    subscriptions.close();
  },
);

t.test('MCP-23 the last of several lines that come together is told of', async (t) => {
  let recorded = '1-0';
  let read = '';
  let come = () => {};
  const subscriptions = new Subscriptions({
    leastMs: 20,
    watch: async function* (_channel, { signal }) {
      yield { id: '2-0' };
      await new Promise<void>((resolve) => {
        come = resolve;
        signal.addEventListener('abort', () => resolve());
      });
      yield { id: '3-0' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    // the second line is heard while it is looked whether the first can be read
    read: async (uri) => {
      const next = recorded;
      if (recorded === '1-0') recorded = '2-0';
      else if (recorded === '2-0') come();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { contents: [{ uri, text: JSON.stringify({ next }) }] };
    },
    tell: async () => {
      read = recorded;
      recorded = '3-0';
    },
    ended: (error) => t.error(error),
  });
  await subscriptions.add('relay://channels/lobby');
  await eventually('the last line to be read', () => read === '3-0');
  subscriptions.close();
});

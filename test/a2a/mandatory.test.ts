import t from 'tap';
import { startNats } from '../support/nats.js';
import { agentServer } from './stage.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
type Body = any;

t.test('A2A-14 what every agent of A2A must do', async (t) => {
  const nats = await startNats(t);
  const { url } = await agentServer(t, { natsUrl: nats.url });
  const post = async (body: unknown) => {
    const answer = await fetch(`${url}/a2a/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    t.match(answer.headers.get('content-type'), /^application\/json/);
    return (await answer.json()) as Body;
  };
  const call = (method: string, params?: unknown, id: unknown = 'q') =>
    post({ jsonrpc: '2.0', id, method, params });
  const text = (words: string, more: object = {}) => ({
    message: {
      kind: 'message',
      messageId: crypto.randomUUID(),
      role: 'user',
      parts: [{ kind: 'text', text: words }],
      ...more,
    },
  });

  t.test('the card has what it must have, of the right types', async (t) => {
    const response = await fetch(`${url}/.well-known/agent-card.json`);
    t.match(response.headers.get('content-type'), /^application\/json/);
    const card = (await response.json()) as Body;
    for (const name of ['protocolVersion', 'name', 'description', 'url', 'version', 'preferredTransport'])
      t.ok(typeof card[name] === 'string' && card[name] !== '', name);
    t.match(card.url, /^https?:\/\//);
    for (const name of ['streaming', 'pushNotifications', 'stateTransitionHistory'])
      t.type(card.capabilities[name], 'boolean', name);
    for (const name of ['defaultInputModes', 'defaultOutputModes', 'skills'])
      t.ok(Array.isArray(card[name]) && card[name].length > 0, name);
    for (const mode of [...card.defaultInputModes, ...card.defaultOutputModes])
      t.match(mode, /^\w+\/[\w.+-]+$/);
    t.equal(new Set(card.skills.map(({ id }: Body) => id)).size, card.skills.length, 'ids of their own');
    for (const skill of card.skills) {
      for (const name of ['id', 'name', 'description']) t.ok(typeof skill[name] === 'string', name);
      t.ok(skill.tags.every((tag: unknown) => typeof tag === 'string'));
    }
  });

  t.test('JSON-RPC: envelopes', async (t) => {
    const params = text('list-channels');
    const cases: [unknown, number][] = [
      ['{"jsonrpc": "2.0", "method": "message/send", "params": {', -32700],
      [{ id: 1, method: 'message/send', params }, -32600],
      [{ jsonrpc: '1.0', id: 1, method: 'message/send', params }, -32600],
      [{ jsonrpc: 2, id: 1, method: 'message/send', params }, -32600],
      [{ jsonrpc: '2.0', id: 1, params }, -32600],
      [{ jsonrpc: '2.0', id: 1, method: null, params }, -32600],
      ...[{}, [], true, 1.5].map((id): [unknown, number] => [
        { jsonrpc: '2.0', id, method: 'message/send', params },
        -32600,
      ]),
      [{ jsonrpc: '2.0', id: 1, method: 'nonexistent/method', params: {} }, -32601],
      [{ jsonrpc: '2.0', id: 1, method: 'Message/Send', params }, -32601],
      ...['text', 5, true, null, [], [params]].map((wrong): [unknown, number] => [
        { jsonrpc: '2.0', id: 1, method: 'message/send', params: wrong },
        -32602,
      ]),
      // method, then parameters, then id
      [{ jsonrpc: '2.0', method: 'nonexistent/method' }, -32601],
      [{ jsonrpc: '2.0', method: 'message/send', params: 'text' }, -32602],
      [{ jsonrpc: '2.0', method: 'tasks/get', params: {} }, -32602],
    ];
    for (const [body, code] of cases) {
      const answer = await post(body);
      t.match(
        answer,
        { jsonrpc: '2.0', error: { code, message: String } },
        JSON.stringify(body).slice(0, 120),
      );
      t.ok('id' in answer && !('result' in answer), 'an id, and an error alone');
    }
    for (const id of [1, 0, -7, 'a', '', 'ü'.repeat(50)]) {
      const answer = await call('message/send', params, id);
      t.match(answer, { jsonrpc: '2.0', id, result: Object });
      t.notOk('error' in answer);
    }
  });

  t.test('a task from its message to its end', async (t) => {
    const { result: waiting } = await call('message/send', text('hello'));
    t.match(waiting, { kind: 'task', id: String, contextId: String, status: { state: 'input-required' } });
    t.match((await call('tasks/get', { id: waiting.id })).result, {
      id: waiting.id,
      contextId: waiting.contextId,
      status: { state: 'input-required', timestamp: /^\d{4}-\d\d-\d\dT/ },
    });
    const more = text('list-channels', { taskId: waiting.id, contextId: waiting.contextId });
    t.match((await call('message/send', more)).result, { id: waiting.id, status: { state: 'completed' } });
    const whole = (await call('tasks/get', { id: waiting.id })).result.history;
    t.equal(whole.length, 2);
    for (const historyLength of [0, 1, 2, 50])
      t.same(
        (await call('tasks/get', { id: waiting.id, historyLength })).result.history,
        whole.slice(Math.max(0, 2 - historyLength)),
        `the last ${historyLength}`,
      );
    for (const historyLength of [-1, 1.5, 'all'])
      t.match(await call('tasks/get', { id: waiting.id, historyLength }), { error: { code: -32602 } });
    t.match(await call('tasks/cancel', { id: waiting.id }), { error: { code: -32002 } });
    const { result: other } = await call('message/send', text('hello'));
    t.match((await call('tasks/cancel', { id: other.id })).result, {
      id: other.id,
      status: { state: 'canceled' },
    });
    t.match(await call('tasks/cancel', { id: other.id }), { error: { code: -32002 } });
    for (const method of ['tasks/get', 'tasks/cancel'])
      t.match(await call(method, { id: crypto.randomUUID() }), { error: { code: -32001 } }, method);
    t.match(await call('message/send', text('hello', { taskId: crypto.randomUUID() })), {
      error: { code: -32001 },
    });
  });

  t.test('what the card denies is refused with the code for it', async (t) => {
    const pushNotificationConfig = { url: 'https://agent.example/hook' };
    for (const [method, params] of [
      ['set', { taskId: 't', pushNotificationConfig }],
      ['get', { id: 't' }],
      ['list', { id: 't' }],
      ['delete', { id: 't', pushNotificationConfigId: 'c' }],
    ] as const)
      t.match(await call(`tasks/pushNotificationConfig/${method}`, params), {
        error: { code: -32003, message: /not supported/ },
      });
    t.match(await call('message/stream', text('list-channels')), { error: { code: -32004 } });
    t.match(await call('tasks/resubscribe', { id: 't' }), { error: { code: -32004 } });
  });
});

import pino from 'pino';
import t from 'tap';
import type { Task } from '../../src/a2a/protocol.js';
import { Tasks, taskLimits } from '../../src/a2a/tasks.js';
import { Log } from '../../streams/core/index.js';
import { startNats } from '../support/nats.js';
import { agentServer, network, ok } from './stage.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
type Body = any;

t.test('the agent that others ask', async (t) => {
  const nats = await startNats(t);
  const down = {
    status: 502,
    body: { error: 'The bridge service is unreachable', code: 'upstream_unreachable' },
  };
  const answers = { ...network };
  const { url } = await agentServer(t, { natsUrl: nats.url, answers });
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/a2a/v1`, { method: 'POST', body, headers });
    return { status: answer.status, body: (await answer.json()) as Body };
  };
  const call = (method: string, params?: unknown, id: unknown = 1) =>
    post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), { 'content-type': 'application/json' });
  const say = (...parts: object[]) => ({
    message: { kind: 'message', messageId: 'm1', role: 'user', parts },
  });
  const text = (words: string) => ({ kind: 'text', text: words });
  const data = (fields: object) => ({ kind: 'data', data: fields });
  const asked = async (...parts: object[]) => (await call('message/send', say(...parts))).body.result;

  t.test('A2A-02 each skill answers a completed task with the data of the read and a line', async (t) => {
    const cases: [string, object, string][] = [
      [
        'irc-network-stats',
        { connected: true, users: 37, channels: 5, messages: 900, viewers: 2, uptime: 60 },
        '37 users in 5 channels, 900 lines recorded',
      ],
      [
        'list-channels',
        {
          channels: [
            { name: '#agents', users: 20, topic: 'Talk of agents' },
            { name: '#lobby', users: 9, topic: '' },
          ],
        },
        '2 public channels',
      ],
      ['channel-leaderboard', { channels: [] }, 'No channels have a reputation yet'],
      [
        'agent-leaderboard',
        { agents: [{ nick: 'ann', total_feedback: 9, avg_score: 4.8, score: 71 }] },
        '1 agents: 1. ann (71)',
      ],
    ];
    for (const [skill, found, line] of cases) {
      const before = Date.now();
      const answer = await call('message/send', say(data({ skill })), skill);
      t.equal(answer.status, 200);
      t.match(answer.body, { jsonrpc: '2.0', id: skill });
      const task = answer.body.result;
      t.match(task, {
        kind: 'task',
        id: /^[\w-]{36}$/,
        contextId: /^[\w-]{36}$/,
        status: { state: 'completed' },
      });
      const at = Date.parse(task.status.timestamp);
      t.ok(at > before - 2_000 && at < Date.now() + 2_000);
      t.equal(task.artifacts.length, 1);
      t.equal(task.artifacts[0].name, skill);
      t.same(task.artifacts[0].parts, [
        { kind: 'data', data: found },
        { kind: 'text', text: line },
      ]);
      t.match(task.history, [{ role: 'user', messageId: 'm1', taskId: task.id, contextId: task.contextId }]);
    }
  });

  t.test('A2A-03 rooms that are not for everybody are left out', async (t) => {
    const task = await asked(data({ skill: 'list-channels', limit: 1 }));
    t.same(
      task.artifacts[0].parts[0].data.channels.map(({ name }: Body) => name),
      ['#agents'],
    );
    t.equal(task.artifacts[0].parts[1].text, '2 public channels, 1 of them shown');
  });

  t.test('A2A-04 a text names its skill, or has its words in it', async (t) => {
    const cases = {
      'irc-network-stats': ['irc-network-stats please', 'How many users are online?', 'network stats'],
      'list-channels': ['Which channels are there?', 'LIST-CHANNELS', 'show me the topics'],
      'channel-leaderboard': ['the top channels', 'Which rooms rank highest?'],
      'agent-leaderboard': ['Who are the best agents?', 'agent leaderboard', 'reputation of agents'],
    };
    for (const [skill, texts] of Object.entries(cases)) {
      for (const words of texts) t.match(await asked(text(words)), { artifacts: [{ name: skill }] }, words);
    }
    t.match(await asked(text('something'), data({ skill: 'agent-leaderboard', limit: 2 })), {
      artifacts: [{ name: 'agent-leaderboard' }],
    });
  });

  t.test('A2A-05 a part without a kind that there is', async (t) => {
    for (const part of [{ text: 'list-channels' }, { kind: 'video' }]) {
      const { error } = (await call('message/send', say(part))).body;
      t.match(error.data.details, [
        { path: 'message.parts.0.kind', message: /must be one of text, data, file$/ },
      ]);
    }
  });

  t.test('A2A-05 what asks for nothing that there is gets the list, and can go on', async (t) => {
    for (const parts of [[text('What is the weather like?')], [data({ skill: 'weather' })], [data({})]]) {
      const task = await asked(...parts);
      t.match(task, { status: { state: 'input-required', message: { role: 'agent' } } });
      const said = JSON.stringify(task.status.message.parts);
      for (const skill of ['irc-network-stats', 'list-channels', 'channel-leaderboard', 'agent-leaderboard'])
        t.match(said, skill);
      t.notOk(task.artifacts);
    }
    const waiting = await asked(text('hello'));
    const next = { ...say(text('list-channels')).message, taskId: waiting.id };
    const { result: done } = (await call('message/send', { message: next })).body;
    t.match(done, { id: waiting.id, contextId: waiting.contextId, status: { state: 'completed' } });
    t.equal(done.history.length, 2);
    t.match((await call('message/send', { message: next })).body.error, {
      code: -32600,
      message: /is completed/,
    });
    const other = await asked(text('hello'));
    t.match(
      (await call('message/send', { message: { ...next, taskId: other.id, contextId: 'else' } })).body.error,
      { code: -32602 },
    );
    t.match((await call('message/send', { message: { ...next, taskId: 'none' } })).body.error, {
      code: -32001,
    });
  });

  t.test('A2A-06 trouble behind it is a failed task', async (t) => {
    answers['/irc/stats'] = down;
    const task = await asked(data({ skill: 'irc-network-stats' }));
    t.match(task, {
      status: {
        state: 'failed',
        message: { role: 'agent', parts: [{ text: /bridge service is unreachable/ }] },
      },
    });
    t.notOk(task.artifacts);
    answers['/irc/stats'] = network['/irc/stats']!;
  });

  t.test('A2A-07 tasks are looked up and canceled', async (t) => {
    const done = await asked(data({ skill: 'list-channels' }));
    t.same((await call('tasks/get', { id: done.id })).body.result, done);
    t.same((await call('tasks/get', { id: done.id, historyLength: 0 })).body.result.history, []);
    t.match((await call('tasks/cancel', { id: done.id })).body.error, { code: -32002 });
    for (const id of ['none', crypto.randomUUID(), '>', '*'])
      for (const method of ['tasks/get', 'tasks/cancel'])
        t.match((await call(method, { id })).body.error, { code: -32001 }, `${method} ${id}`);
    const waiting = await asked(text('hello'));
    const ends = await Promise.all(
      Array.from({ length: 20 }, () => call('tasks/cancel', { id: waiting.id })),
    );
    t.equal(ends.filter(({ body }) => body.result?.status.state === 'canceled').length, 1);
    t.equal(ends.filter(({ body }) => body.error?.code === -32002).length, 19);
    t.match((await call('tasks/get', { id: waiting.id })).body.result, { status: { state: 'canceled' } });
  });

  t.test('A2A-08 what this agent does not do', async (t) => {
    const cases: [string, number][] = [
      ['message/stream', -32004],
      ['tasks/resubscribe', -32004],
      ['tasks/pushNotificationConfig/set', -32003],
      ['tasks/pushNotificationConfig/get', -32003],
      ['tasks/pushNotificationConfig/list', -32003],
      ['tasks/pushNotificationConfig/delete', -32003],
      ['agent/getAuthenticatedExtendedCard', -32007],
      ['tasks/list', -32601],
      ['', -32601],
      ['constructor', -32601],
    ];
    for (const [method, code] of cases) {
      const answer = await call(method, { id: 'x' }, 'q');
      t.match(answer, { status: 200, body: { id: 'q', error: { code, message: String } } }, method);
    }
    t.match((await call('tasks/list', {})).body.error.data, {
      code: 'method_not_found',
      hint: /message\/send, tasks\/get and tasks\/cancel/,
    });
    const configured = (configuration: object) =>
      call('message/send', { ...say(text('list-channels')), configuration });
    t.match((await configured({ pushNotificationConfig: { url: 'https://a.example' } })).body.error, {
      code: -32003,
    });
    t.match((await configured({ acceptedOutputModes: ['image/png'] })).body.error, { code: -32005 });
    t.match((await configured({ acceptedOutputModes: ['text/plain'], historyLength: 0 })).body.result, {
      status: { state: 'completed' },
      history: [],
    });
    t.match((await call('message/send', say({ kind: 'file', file: { uri: 'a' } }))).body.error, {
      code: -32005,
    });
  });

  t.test('A2A-09 requests that are none', async (t) => {
    for (const body of ['', '{', 'list-channels', '{"__proto__": {"a": 1}}'])
      t.match(await post(body), { status: 200, body: { id: null, error: { code: -32700 } } }, body);
    const envelopes: [unknown, unknown][] = [
      [[], null],
      [null, null],
      ['text', null],
      [{}, null],
      [{ jsonrpc: '1.0', id: 7, method: 'tasks/get' }, 7],
      [{ jsonrpc: '2.0', id: 'a' }, 'a'],
      [{ jsonrpc: '2.0', method: 'tasks/get', params: { id: 'x' } }, null],
      [{ jsonrpc: '2.0', id: 1.5, method: 'tasks/get', params: { id: 'x' } }, null],
      [{ jsonrpc: '2.0', id: {}, method: 'tasks/get', params: { id: 'x' } }, null],
      [{ jsonrpc: '2.0', id: 1, method: 5 }, 1],
      [[{ jsonrpc: '2.0', id: 1, method: 'tasks/get' }], null],
    ];
    for (const [envelope, id] of envelopes) {
      const body = JSON.stringify(envelope);
      t.match(await post(body), { status: 200, body: { id, error: { code: -32600 } } }, body);
    }
    const good = say(text('list-channels')).message;
    const messages: object[] = [
      {},
      { message: {} },
      { message: { ...good, messageId: undefined } },
      { message: { ...good, messageId: '' } },
      { message: { ...good, role: undefined } },
      { message: { ...good, role: 'system' } },
      { message: { ...good, parts: undefined } },
      { message: { ...good, parts: [] } },
      { message: { ...good, parts: [{ kind: 'text' }] } },
      { message: { ...good, parts: [{ kind: 'sound' }] } },
      { message: { ...good, kind: 'task' } },
      say(data({ skill: 'list-channels', limit: 0 })),
      say(data({ skill: 'list-channels', limit: 51 })),
      say(data({ skill: 'list-channels', limit: 'many' })),
    ];
    for (const params of messages)
      t.match(
        (await call('message/send', params)).body,
        { id: 1, error: { code: -32602, message: String, data: { code: 'invalid_params' } } },
        JSON.stringify(params),
      );
    t.match((await call('message/send')).body, { error: { code: -32602 } });
    t.match((await call('tasks/get', {})).body, { error: { code: -32602 } });
    t.match((await call('tasks/cancel', { id: 5 })).body, {
      error: { code: -32602, data: { code: 'invalid_params', details: [{ path: 'id', message: String }] } },
    });
  });

  t.test('A2A-09 the method is looked at first, then the parameters, then the id', async (t) => {
    const good = say(text('list-channels'));
    const requests: [object, number][] = [
      [{ method: 'no/method', params: [] }, -32601],
      [{ method: 'message/send', params: {} }, -32602],
      [{ method: 'message/send' }, -32602],
      [{ method: 'tasks/get', params: { id: 5 } }, -32602],
      [{ method: 'tasks/pushNotificationConfig/set' }, -32003],
      [{ method: 'message/send', params: good }, -32600],
    ];
    for (const [request, code] of requests)
      for (const id of [undefined, {}]) {
        const body = JSON.stringify({ jsonrpc: '2.0', id, ...request });
        t.match(await post(body), { status: 200, body: { id: null, error: { code } } }, body);
      }
    for (const params of [[1], [], 'text', 5, true, null])
      for (const method of ['message/send', 'tasks/get', 'tasks/cancel'])
        t.match(
          (await call(method, params, 3)).body,
          { id: 3, error: { code: -32602 } },
          `${method} ${JSON.stringify(params)}`,
        );
    t.match(
      (await call('tasks/pushNotificationConfig/get', { id: 'x' })).body.error.message,
      /not supported/,
    );
  });

  t.test('A2A-09 what the server refuses has the form too', async (t) => {
    const large = await post(`{"a":"${'x'.repeat(300_000)}"}`);
    t.match(large, {
      status: 413,
      body: { jsonrpc: '2.0', id: null, error: { data: { code: 'payload_too_large' } } },
    });
  });

  t.test('A2A-12 other methods', async (t) => {
    const ask = async (method: string, init: RequestInit = {}) => {
      const answer = await fetch(`${url}/a2a/v1`, { method, ...init });
      const allowed = answer.headers.get('allow')?.split(', ').sort();
      return { status: answer.status, headers: answer.headers, allowed, text: await answer.text() };
    };
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      for (const body of ['{"jsonrpc":"2.0","id":1,"method":"tasks/get"}', '{', 'x'.repeat(300_000)]) {
        const { status, allowed, text } = await ask(method, { body });
        t.equal(status, 405, method);
        t.same(allowed, ['GET', 'HEAD', 'POST']);
        t.match(JSON.parse(text), {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32000, message: `${method} is not possible here`, data: { code: String } },
        });
      }
    }
    t.match(await ask('OPTIONS'), { status: 204, allowed: ['GET', 'HEAD', 'OPTIONS', 'POST'] });
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    const preflight = await ask('OPTIONS', { headers });
    t.equal(preflight.status, 204);
    t.match(preflight.headers.get('access-control-allow-methods'), /POST/);
    t.equal((await ask('GET')).status, 200, 'the card');
    t.equal((await ask('HEAD')).status, 200);
    // next to the door, errors are the usual ones
    const beside = await fetch(`${url}/a2a/v1/.well-known/agent-card.json`, { method: 'PUT' });
    t.match(await beside.json(), { code: 'method_not_allowed' });
  });

  t.test(
    'A2A-10 tasks are known in every process, and without their store questions are answered',
    async (t) => {
      const other = await agentServer(t, { natsUrl: nats.url });
      const task = await asked(data({ skill: 'list-channels' }));
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: task.id } });
      const found = await fetch(`${other.url}/a2a/v1`, { method: 'POST', body });
      t.same(((await found.json()) as Body).result, task);
      await nats.kill();
      t.match(await asked(data({ skill: 'list-channels' })), { status: { state: 'completed' } });
      t.match((await call('tasks/get', { id: task.id })).body, {
        error: { code: -32603, message: /looked up/ },
      });
    },
  );
});

t.test('A2A-10 tasks live for an hour, so many at most, and the oldest go first', async (t) => {
  t.same(taskLimits, { maxAgeMs: 3_600_000, maxEntries: 10_000, maxBytes: 32_000_000 });
  const nats = await startNats(t);
  const answers = { '/irc/stats': ok({ connected: false, users: 0, channels: 0, messages: 0 }) };
  const { url } = await agentServer(t, {
    natsUrl: nats.url,
    answers,
    limits: { ...taskLimits, maxEntries: 3 },
  });
  const call = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return (await (await fetch(`${url}/a2a/v1`, { method: 'POST', body })).json()) as Body as Body;
  };
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'stats' }] };
  const ids: string[] = [];
  for (let count = 0; count < 4; count++) ids.push((await call('message/send', { message })).result.id);
  t.match(await call('tasks/get', { id: ids[0] }), { error: { code: -32001 } });
  for (const id of ids.slice(1)) t.match(await call('tasks/get', { id }), { result: { id } });
  t.match((await call('message/send', { message })).result.artifacts[0].parts[1].text, /not connected/);
});

t.test('A2A-13 who sends many large messages does not drive out the tasks of others', async (t) => {
  const nats = await startNats(t);
  const log = await Log.open({
    urls: nats.url,
    name: 'agent',
    streams: [],
    replicas: 1,
    maxBytes: 100_000_000,
    logger: pino({ level: 'silent' }),
  });
  t.teardown(() => log.close());
  const tasks = new Tasks({ log, replicas: 1 });
  const ofAnotherProcess = new Tasks({ log, replicas: 1 });
  const task = (id: string, bytes: number): Task => ({
    kind: 'task',
    id,
    contextId: 'c',
    status: { state: 'completed', timestamp: '' },
    history: [
      { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'x'.repeat(bytes) }] },
    ],
  });
  const mine = '00000000-0000-4000-8000-000000000000';
  t.ok(await tasks.keep(task(mine, 10), 0, '192.0.2.1'));
  const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  for (let n = 1; n <= 160; n++)
    await (n % 2 ? tasks : ofAnotherProcess).keep(task(id(n), 250_000), 0, '192.0.2.2');
  t.match(await tasks.find(mine), { task: { id: mine } });
  const kept = [];
  for (let n = 1; n <= 160; n++) if (await tasks.find(id(n))) kept.push(n);
  t.same(
    kept,
    Array.from({ length: 12 }, (_, n) => n + 1),
    'some of them are kept, as many as one process would keep',
  );
});

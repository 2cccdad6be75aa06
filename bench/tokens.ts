import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import type { Bench, Row } from './support/bench.js';
import { whole } from './support/figures.js';
import { startIrcd, startNats } from './support/servers.js';
import { startService } from './support/service.js';
import { eventually } from './support/wait.js';

const key = 'bench-key-'.repeat(4);
const nick = 'alice';
const lines = 20;

/** Tools that agents call most, with what they ask for. */
const calls: Record<string, object> = {
  svc_get_stats: {},
  svc_list_channels: {},
  svc_get_messages: { channel: 'lobby', limit: lines },
  svc_catch_up: { channels: 'lobby', tokens: 2_000 },
  svc_inbox: {},
  svc_say: { to: '#lobby', text: 'one more line of mine' },
  svc_find_agents: {},
  svc_get_agent_profile: { nick },
  svc_get_leaderboard: {},
  svc_security_incidents: {},
};

/** What an agent reads of the tool server, in tokens of `o200k_base`: its list, its instructions, and answers. */
export async function tokens(t: Bench): Promise<Row[]> {
  const nats = await startNats(t);
  const ircd = await startIrcd(t);
  const { url } = await startService(t, { nats, ircd }, { API_KEYS: `bench:${key}`, LOG_LEVEL: 'warn' });
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const operator = { 'x-api-key': key };
  const { key: own } = await post('/auth/keys', operator, { nick, scopes: ['read', 'speak', 'rate'] });
  const agent = { 'x-api-key': own as string };
  const ask = async (method: string, params: object, headers: Record<string, string>) => {
    const answer = await post('/mcp', headers, { jsonrpc: '2.0', id: 1, method, params });
    if (!answer.result) throw new Error(`${method}: ${JSON.stringify(answer)}`);
    return answer.result as Record<string, unknown>;
  };

  t.progress(`${lines} lines`);
  for (let n = 0; n < lines; n++) {
    const text = `line ${n} of an agent that tells the others how its work on task ${1_000 + n} goes`;
    await post('/irc/channels/lobby/messages', agent, { text });
  }
  await eventually('the record of them', async () => {
    const answer = await fetch(`${url}/irc/channels/lobby/messages?limit=${lines}`);
    return ((await answer.json()) as unknown[]).length === lines;
  });
  const encoder = new Tiktoken(o200k);
  const count = (value: unknown) => encoder.encode(JSON.stringify(value)).length;
  const row = (measured: string, value: unknown, goal?: string): Row => ({
    measured,
    ours: `${whole(count(value))} tokens`,
    against: '–',
    ...(goal ? { goal } : {}),
  });
  const { instructions } = await ask(
    'initialize',
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
    operator,
  );
  const rows = [
    row('`tools/list` for an operator’s key', await ask('tools/list', {}, operator), '≤ 10,000'),
    row('`tools/list` for an agent’s key', await ask('tools/list', {}, agent)),
    row('`instructions` of the tool server', instructions),
  ];
  for (const [name, args] of Object.entries(calls)) {
    const result = await ask('tools/call', { name, arguments: args }, agent);
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    rows.push(row(`answer of \`${name}\``, result));
  }
  return rows;
}

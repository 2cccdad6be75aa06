import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { Agent } from '../../src/a2a/agent.js';
import { a2aRoutes } from '../../src/a2a/http.js';
import { Tasks, type taskLimits } from '../../src/a2a/tasks.js';
import { createServer } from '../../src/http/server.js';
import { discoveryRoutes } from '../../src/pages/documents-routes.js';
import '../support/contract.js';
import type { Call } from '../../src/operations/core/call.js';
import type { AnyOperation } from '../../src/operations/core/operation.js';
import { documentsOf } from '../../src/pages/discovery/documents.js';
import { refusalOf } from '../../src/remote/client.js';
import { Log } from '../../streams/core/index.js';
import { doorsAt } from '../discovery/doors.js';
import { freePort } from '../support/ports.js';
import type { Teardown } from '../support/server-process.js';

/** An answer of the public API. */
interface Reply {
  status: number;
  body: unknown;
}

/** What the public API would answer, by path; what is not there is not found. */
export type Answers = Record<string, Reply | (() => Promise<Reply>)>;

/** The answers of a network with some channels, and feedback about two agents. */
export const network: Answers = {
  '/irc/stats': ok({ connected: true, users: 37, channels: 5, messages: 900, viewers: 2, uptime: 60 }),
  '/irc/channels': ok([
    { name: '#agents', users: 20, topic: 'Talk of agents' },
    { name: '#task-a1b2c3d4', users: 3, topic: 'A task' },
    { name: '#relay-a1b2c3d4', users: 3, topic: 'A relay' },
    { name: '#Alpha', users: 2, topic: 'Costs something' },
    { name: '#lobby', users: 9, topic: '' },
  ]),
  '/payments/channels': ok({ channels: [{ name: '#alpha', price: '0.10' }] }),
  '/leaderboard/agents': ok({ agents: [{ nick: 'ann', total_feedback: 9, avg_score: 4.8, score: 71 }] }),
  '/leaderboard/agents?limit=2': ok({
    agents: [{ nick: 'ann', total_feedback: 9, avg_score: 4.8, score: 71 }],
  }),
  '/leaderboard/channels': ok({ channels: [] }),
};

const nothing: Reply = { status: 404, body: { error: 'Nothing there', code: 'not_found' } };

export function ok(body: unknown): Reply {
  return { status: 200, body };
}

/** A server with the agent on it, which reads the answers given. */
export async function agentServer(
  t: Teardown,
  options: { natsUrl: string; answers?: Answers; limits?: typeof taskLimits },
): Promise<{ server: FastifyInstance; url: string }> {
  const { natsUrl, answers = network, limits } = options;
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const log = await Log.open({
    urls: natsUrl,
    name: 'agent',
    streams: [],
    replicas: 1,
    maxBytes: 100_000_000,
    logger,
  });
  const call = (async (operation: AnyOperation, input: { limit?: number }) => {
    const path = operation.http!.path;
    const asked = answers[`${path}?limit=${input.limit}`] ?? answers[path];
    const { status, body } = (typeof asked === 'function' ? await asked() : asked) ?? nothing;
    if (status === 200) return body;
    throw refusalOf({ status, body, headers: new Headers() });
  }) as Call;
  const tasks = new Tasks({ log, replicas: 1, ...(limits ? { limits } : {}) });
  const server = await createServer({ logger, rateLimit: 600 });
  await server.register(a2aRoutes, { agent: new Agent({ call, tasks, logger }) });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await server.register(discoveryRoutes, { documents: documentsOf(doorsAt(url)) });
  await server.listen({ host: '127.0.0.1', port });
  t.teardown(async () => {
    await server.close();
    await log.close();
  });
  return { server, url };
}

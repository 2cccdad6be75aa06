import type { Test } from 'tap';
import { serviceNicks } from '../../src/config/service-nicks.js';
import { environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { modelsFile } from '../deliberation/stage.js';
import { operatorKey } from '../keys/stage.js';
import { channelsFile, paidChannel, payTo, startPayments } from '../payments/stage.js';
import { startAccountNetwork } from '../support/anope.js';
import { startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sendJson, startMarketplace } from '../support/marketplace.js';
import { startProvider } from '../support/model-provider.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { showsRecorder } from '../support/recorder.js';

/** A task as the marketplace keeps it. */
interface Task {
  id: string;
  title: string;
  bounty_usd: number;
  status: string;
  /** Who applied for it, by wallet. */
  applied: unknown[];
}

/** A marketplace on a real HTTP server, which keeps the tasks that are published. */
async function startTasks(t: Test) {
  const marketplace = await startMarketplace(t);
  const tasks = new Map<string, Task>();
  marketplace.answer = ({ method, url, body }, response) => {
    const [, id = '', deed = ''] = /^\/api\/v1\/tasks(?:\/([^/?]+))?(?:\/(\w+))?/.exec(url) ?? [];
    const task = tasks.get(id);
    if (method === 'POST' && id === '') {
      const made = { id: `5a7e000${tasks.size}-0001`, status: 'published', applied: [], ...JSON.parse(body) };
      tasks.set(made.id, made);
      sendJson(response, 200, made);
    } else if (id === 'available') sendJson(response, 200, { tasks: [...tasks.values()] });
    else if (!task) sendJson(response, 404, { error: 'Not found' });
    else {
      if (deed === 'apply') task.applied.push(JSON.parse(body).executor_id);
      sendJson(response, 200, task);
    }
  };
  return { url: marketplace.url, tasks };
}

/** The whole service on real servers, with all that an operator can connect, and what an operator can hand over. */
export async function wholeService(t: Test) {
  const bots = ['em-bot', 'relay', 'channelserv', 'mrserv'];
  const [nats, { ircd }, { chain, facilitator }, market, provider, port] = await Promise.all([
    startNats(t),
    startAccountNetwork(t, { reservedNicks: [...bots, ...serviceNicks] }),
    startPayments(t),
    startTasks(t),
    startProvider(t),
    freePort(),
  ]);
  const base = `http://127.0.0.1:${port}`;
  await startApp(t, {
    ...environmentOf({ nats, ircd }),
    ...{ PORT: String(port), PUBLIC_URL: base, IRC_PUBLIC_URL: ircd.url, RULES_FILE: '' },
    ...{ RATE_LIMIT: '0', KEY_RATE_LIMIT: '0', NICK_RATE_LIMIT: '0', NONCE_RATE_LIMIT: '0' },
    API_KEYS: `ops:${operatorKey}`,
    EVENT_RETRY_MS: '50',
    VOTE_LINK_AGE_HOURS: '0',
    ...{ EM_URL: market.url, EM_API_KEY: 'upstream' },
    MODELS: await modelsFile(t, provider.url),
    ...{ X402_FACILITATOR_URL: facilitator.url, X402_PAY_TO: payTo },
    PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
  });
  await untilKept(base);
  const witness = await operatorOn(t, ircd);
  await eventually('the lobby to be recorded', async () =>
    (await witness.ask('NAMES #lobby')).some(showsRecorder),
  );
  await eventually(
    'every part to be well',
    async () => ((await (await fetch(`${base}/health`)).json()) as { status: string }).status === 'ok',
  );
  return {
    base,
    witness,
    password: ircd.serverPassword,
    port: ircd.port,
    tasks: market.tasks,
    chain,
    operatorKey,
    secret: webhookSecret,
  };
}

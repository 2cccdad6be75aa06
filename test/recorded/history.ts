import { IrcViewer } from '../../src/cli/demo/irc-viewer.js';
import { showPayments } from '../../src/cli/demo/payments.js';
import type { DemoPayments } from '../../src/cli/demo/payments-setup.js';
import { ServiceClient } from '../../src/cli/service/client.js';
import { connectToNats } from '../../streams/core/nats.js';
import { askOf } from '../channels/stage.js';
import { newWallet } from '../identity/stage.js';
import { postEvent, sampleEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import type { TestIrcd } from '../support/ircd.js';
import type { FakeNetwork } from '../verification/oembed.js';
import { noFact } from './answers.js';

const patienceMs = 30_000;

/** Asks for something that has to be granted; the body of the answer. */
async function done(url: string, method: string, path: string, body?: unknown) {
  const answer = await askOf(url, method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** An event whose channel is closed to the bot, twice: one dead letter stays, the other one is redriven. */
export async function deadLetters(url: string, ircd: TestIrcd): Promise<void> {
  const channels = ['#task-deadbeef', '#task-redriven'];
  const witness = await observe(ircd.port, { nick: 'witness', channels });
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  for (const channel of channels) await witness.ask(`SAMODE ${channel} +b em-bot!*@*`);
  for (const id of ['deadbeef', 'redriven'])
    await postEvent(
      url,
      sampleEvent(`evt-${id}`, { event_type: 'task.rejected', payload: { id, reason: 'blurred' } }),
    );
  await eventually(
    'the dead letters',
    async () => (await done(url, 'GET', '/ops/dead-letters')).dead_letters.length === 2,
    patienceMs,
  );
  await witness.ask('SAMODE #task-redriven -b em-bot!*@*');
  await done(url, 'POST', '/ops/dead-letters/evt-redriven/redrive');
  const settled = async () => (await done(url, 'GET', '/hooks/em/stats')).pending === 0;
  await eventually('the redriven event to be shown', settled, patienceMs);
  await done(url, 'POST', '/ops/events/evt-redriven/redeliver', { run: 'again' });
  witness.stop();
}

/** A channel that callers manage, changed in every way, and one that is deleted. */
async function managedChannels(url: string): Promise<void> {
  const create = (name: string, type: string) =>
    done(url, 'POST', '/channels', { name, type, modes: '+nt', topic: `Topic of ${name}` });
  await create('#city-porto', 'geographic');
  await create('#task-deleted1', 'task');
  await done(url, 'PATCH', '/channels/city-porto', { topic: 'Porto and around', modes: '+m' });
  await done(url, 'POST', '/channels/city-porto/members', { action: 'op', nicks: ['relay'] }).catch(() => {});
  await done(url, 'DELETE', '/channels/task-deleted1');
}

/** A link that is made, proved and taken back, and one that stays. */
async function links(url: string): Promise<void> {
  for (const nick of ['ann', 'bob']) {
    const wallet = newWallet();
    await done(url, 'POST', '/identity/link', { nick, wallet_address: wallet.address });
    const { challenge } = await done(url, 'POST', '/identity/verify-challenge', { nick });
    const signature = await wallet.signMessage({ message: challenge });
    await done(url, 'POST', '/identity/verify-signature', { nick, signature });
  }
  await done(url, 'DELETE', '/identity/link/bob');
}

async function registration(url: string, network: FakeNetwork): Promise<void> {
  const who = { nickname: 'scout', socialHandle: 'scout_one' };
  const { verificationText } = await done(url, 'POST', '/verification/challenge', who);
  const tweetUrl = network.post('scout_one', verificationText);
  await done(url, 'POST', '/verification/verify', { ...who, tweetUrl, email: 'scout@agents.example' });
}

/** A query that two models answer; its id. */
async function deliberation(url: string): Promise<string> {
  const { id } = await done(url, 'POST', '/multibrain/query', {
    prompt: 'Is the shop open?',
    models: ['one', 'two'],
    visibility: 'public',
  });
  await eventually(
    'the result',
    async () => (await askOf(url, 'GET', `/multibrain/query/${id}/result`)).status === 200,
    patienceMs,
  );
  return id;
}

/** A fact that no read model can take, and the operator's word that it is left out. */
async function skippedFact(url: string, natsUrl: string): Promise<void> {
  const log = await connectToNats(natsUrl, 'record');
  const { seq } = await log.jetstream().publish('audit.marketplace', noFact);
  await log.close();
  const reason = 'written by hand';
  await eventually(
    'the read model to halt',
    async () => {
      const { projections } = await done(url, 'GET', '/ops/projections');
      return projections.some(({ state }: { state: string }) => state === 'halted');
    },
    patienceMs,
  );
  await done(url, 'POST', '/ops/projections/audit_log/skip', { stream: 'AUDIT', seq, reason });
}

/** Everything but the demo's story, on a service with its own servers; the paths that tell of it. */
export async function history(
  url: string,
  parts: { irc: string; natsUrl: string; network: FakeNetwork; payments: DemoPayments | undefined },
): Promise<string[]> {
  await managedChannels(url);
  await links(url);
  await registration(url, parts.network);
  await done(url, 'POST', '/em/tasks/7/approve', {});
  await skippedFact(url, parts.natsUrl);
  const query = await deliberation(url);
  const viewer = await IrcViewer.connect(parts.irc, 'payer', () => {});
  const service = new ServiceClient({ url, stop: new AbortController().signal });
  if (parts.payments) {
    const stage = {
      service,
      payments: parts.payments,
      signing: { secret: '', schemes: [] },
      irc: parts.irc,
      own: false,
      close: async () => {},
    };
    await showPayments(stage, viewer, { out: () => {} } as never);
  }
  viewer.close();
  const { incidents } = await done(url, 'GET', '/sentinel/incidents');
  return [
    ...incidents.map(({ id }: { id: string }) => `/sentinel/incidents/${id}/consensus`),
    ...['', '/result', '/responses', '/costs'].map((path) => `/multibrain/query/${query}${path}`),
  ];
}

/** The paths that tell of every read model, whatever its history. */
export const paths = [
  '/hooks/em/stats',
  '/ops/dead-letters?limit=50',
  '/irc/channels/bounties/messages?limit=100',
  '/irc/channels/lobby/messages?limit=100',
  '/channels',
  '/channels/stats',
  '/channels/city-porto',
  '/channels/city-porto/operations',
  '/identity/by-nick/ann',
  '/leaderboard/agents',
  '/leaderboard/channels',
  '/guardian/stats',
  '/guardian/incidents?limit=50',
  '/sentinel/incidents',
  '/sentinel/stats',
  '/sentinel/contributions/scout',
  '/sentinel/cert-status',
  '/verification/agents',
  '/multibrain/queries',
  '/multibrain/costs/summary',
  '/ops/audit',
  '/ops/incidents',
  '/ops/payments',
];

import t from 'tap';
import { logChecks } from '../../src/cli/doctor/log.js';
import { ServiceClient } from '../../src/cli/service/client.js';
import { createClient } from '../../src/client/index.js';
import { watchChannel } from '../../src/client/watch.js';
import { nobody } from '../../src/operations/core/call.js';
import { defineOperation } from '../../src/operations/core/operation.js';
import { oembedReader } from '../../src/operations/verification/social/oembed.js';
import { remoteService } from '../../src/remote/client.js';
import { postSigned } from '../../workers/core/signed-post.js';
import { AgentRegistry } from '../../workers/identity/registry-watch/agents.js';
import { Chain } from '../../workers/payments/chain.js';
import { Facilitator } from '../../workers/payments/facilitator.js';
import type { Resource } from '../../workers/payments/offers.js';
import type { Proof } from '../../workers/payments/proof.js';
import { diagnose } from '../cli/diagnosis.js';
import { collectGarbage } from '../support/collecting.js';
import { type EndlessServer, type Manner, startEndless } from '../support/endless.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';

// each on servers of its own, and most of it is waiting
t.jobs = 4;

/** How long each of them is told to wait, where it can be told. */
const timeoutMs = 1_000;
/** Longer than any of them waits by itself, and shorter than the bounds that the runtime has. */
const boundMs = 60_000;
const stop = new AbortController().signal;

/** How something ends: its result, its error, or in words that it does not. */
async function endOf(promise: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('it waits for ever'), boundMs);
  });
  const ended = promise.catch((error: unknown) => error);
  return await Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

/** The same, of the first try that the server got: a loaded machine may be late with the request already. */
async function endWith(server: EndlessServer, ask: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    const end = await endOf(ask());
    if (server.asked > 0) return end;
    if (tries === 5) throw new Error('the server was not asked');
  }
}

const address = '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432';
const find = defineOperation('find', {
  remote: { service: 'bridge', method: 'get', path: '/find' },
  run: async () => undefined,
});
const proof = {
  version: 2,
  payload: {},
  offer: { requirement: {}, network: { id: 'eip155:8453' }, versions: [2] },
} as unknown as Proof;
const authorization = {
  network: 'eip155:8453',
  asset: address,
  payer: address,
  payTo: address,
  nonce: '0x01',
  amount: '1',
};

/** Everything that asks another HTTP server and reads what it says, and how that is to end. */
const places: Record<string, { ask: (server: EndlessServer) => Promise<unknown>; ends: object | undefined }> =
  {
    'an internal service': {
      ask: ({ url }) => remoteService('bridge', { url, timeoutMs })(find, {}, nobody),
      ends: { status: 502, code: 'upstream_unreachable' },
    },
    'the facilitator, what it supports': {
      ask: ({ url }) => new Facilitator({ url, timeoutMs }).supported(),
      ends: { status: 502, code: 'facilitator_unreachable' },
    },
    'the facilitator, settling': {
      ask: ({ url }) => new Facilitator({ url, timeoutMs }).settle(proof, { url } as Resource),
      ends: { is: 'unknown' },
    },
    'the chain of payments': {
      ask: ({ url }) => new Chain(url).fateOf(authorization),
      ends: undefined,
    },
    'the registry of agents': {
      ask: ({ url }) => new AgentRegistry({ rpcUrl: url, address, timeoutMs }).agentOf(address),
      ends: { name: /^(TimeoutError|HttpRequestError|ContractFunctionExecutionError)$/ },
    },
    'a social network': {
      ask: ({ url }) => oembedReader(url)('https://twitter.com/ann/status/1'),
      ends: { status: 502, code: 'social_unreachable' },
    },
    'a command that sends': {
      ask: ({ url }) => new ServiceClient({ url, stop, timeoutMs }).send('GET', '/health'),
      ends: { code: 'service_silent', message: /did not answer within 1 s/ },
    },
    'a command through the typed client': {
      ask: ({ url }) => new ServiceClient({ url, stop, timeoutMs }).api.get('/health'),
      ends: { code: 'service_silent' },
    },
  };

for (const manner of ['silent', 'drip'] satisfies Manner[]) {
  for (const [name, { ask, ends }] of Object.entries(places)) {
    t.test(`FETCH-03 ${name}: an answer that begins and does not end (${manner})`, async (t) => {
      collectGarbage(t);
      const server = await startEndless(t, manner);
      const end = await endWith(server, () => ask(server));
      if (ends === undefined) t.equal(end, undefined);
      else t.match(end, ends);
      await eventually('the connection to be given up', () => server.open === 0);
    });
  }

  t.test(`FETCH-03 the receiver of identities: its headers are all that is read (${manner})`, async (t) => {
    collectGarbage(t);
    const server = await startEndless(t, manner);
    const receiver = { url: server.url, secret: 'secret' };
    t.same(await endOf(postSigned(receiver, '{}')), { is: 'taken' });
    await eventually('the connection to be given up', () => server.open === 0);
  });

  t.test(`FETCH-03 the log server about itself (${manner})`, async (t) => {
    collectGarbage(t);
    const [{ url }, server] = await Promise.all([startNats(t), startEndless(t, manner)]);
    const look = () => diagnose(logChecks, { NATS_URL: url }, { monitorPort: server.port });
    t.match(await endWith(server, look), { 'log-sync': { status: 'skipped' } });
    await eventually('the connection to be given up', () => server.open === 0);
  });
}

for (const manner of ['mute', 'silent', 'drip'] satisfies Manner[]) {
  t.test(`FETCH-03 a command that is interrupted (${manner})`, async (t) => {
    collectGarbage(t);
    const server = await startEndless(t, manner);
    const interrupt = new AbortController();
    const service = new ServiceClient({ url: server.url, stop: interrupt.signal });
    const ends = [service.send('GET', '/health'), service.api.get('/health')];
    const ended = ends.map(endOf);
    await eventually('both to be asked', () => server.open === 2);
    setTimeout(() => interrupt.abort(), timeoutMs);
    for (const end of ended) t.match(await end, { code: 'interrupted' });
    await eventually('the connections to be given up', () => server.open === 0);
  });

  t.test(`CLIENT-07 what a user of the client gives up (${manner})`, async (t) => {
    collectGarbage(t);
    const json = await startEndless(t, manner);
    const stream = await startEndless(t, manner, { 'content-type': 'text/event-stream' });
    const given = new AbortController();
    const { signal } = given;
    const init = { signal };
    const ended = [
      endOf(createClient({ baseUrl: json.url }).get('/health', init)),
      endOf(createClient({ baseUrl: json.url }).http.GET('/health', init)),
      endOf(createClient({ baseUrl: stream.url }).watch('lobby', { after: '0-0', signal }).next()),
    ];
    await eventually('all to be asked', () => json.open === 2 && stream.open === 1);
    setTimeout(() => given.abort(new Error('enough')), timeoutMs);
    for (const end of ended) t.match(await end, { message: 'enough' });
    await eventually('the connections to be given up', () => json.open + stream.open === 0);
  });
}

t.test('CLIENT-04 a stream that is silent is left, whoever has opened it', async (t) => {
  collectGarbage(t);
  const server = await startEndless(t, 'silent', { 'content-type': 'text/event-stream' });
  const stop = new AbortController();
  const service = {
    newest: async () => undefined,
    open: (_after: string | undefined, signal: AbortSignal) => fetch(new Request(server.url, { signal })),
  };
  const next = endOf(watchChannel(service, { signal: stop.signal }, 1_000).next());
  await eventually('another connection', () => server.asked > 1);
  stop.abort(new Error('enough'));
  t.match(await next, { message: 'enough' });
});

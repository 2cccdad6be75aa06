import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import t, { type Test } from 'tap';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import { identity } from '../../streams/identity/index.js';
import { IdentityRegistry } from '../../workers/identity/index.js';
import { AgentRegistry } from '../../workers/identity/registry-watch/agents.js';
import { WatchRegistry } from '../../workers/identity/registry-watch/index.js';
import { startChain, type TestChain, withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import type { Teardown } from '../support/server-process.js';
import { openLog } from './log.js';
import { identityStage, newWallet } from './stage.js';

const logger = pino({ level: 'silent' });
const skip = { skip: withoutChain };

const walletOf = (chain: TestChain, index: number): PrivateKeyAccount =>
  privateKeyToAccount(chain.keyOf(index));

t.test('IDENT-15 whose agent it is', skip, async (t) => {
  const chain = await startChain(t);
  const agents = new AgentRegistry({ rpcUrl: chain.url, address: chain.registry });
  const [ann, bob, eve] = [chain.agent(1), chain.agent(2), chain.agent(3)];
  t.equal(await agents.agentOf(ann.address), null);
  t.equal(await ann.register(), 0);
  t.equal(await agents.agentOf(ann.address), 0, '0 is a real id');
  t.equal(await agents.agentOf(ann.address.toLowerCase()), 0, 'in any form');
  t.equal(await bob.register(), 1);
  t.equal(await ann.register(), 2);
  t.same([await agents.agentOf(ann.address), await agents.agentOf(bob.address)], [0, 1], 'the lowest');
  await ann.transfer(0, eve.address);
  t.equal(await agents.agentOf(ann.address), 2, 'given away');
  await bob.setAgentWallet(1, eve.address);
  t.equal(await agents.agentOf(bob.address), 1, 'still the owner');
  await bob.transfer(1, eve.address);
  await eve.setAgentWallet(1, bob.address);
  t.equal(await agents.agentOf(bob.address), 1, 'not the owner, and its wallet');
  await ann.burn(2);
  t.equal(await agents.agentOf(ann.address), null, 'an id that is no more');
  const stranger = newWallet().address;
  t.same(
    await agents.agentsOf([ann.address, bob.address, stranger]),
    new Map([[bob.address.toLowerCase(), 1]]),
    'several at once',
  );
  const fresh = new AgentRegistry({ rpcUrl: chain.url, address: chain.registry });
  t.equal(await fresh.agentOf(bob.address), 1, 'the same without memory');
  const nothing = new AgentRegistry({ rpcUrl: chain.url, address: stranger });
  t.equal(await nothing.agentOf(bob.address), null, 'no registry there');
});

t.test('IDENT-15 an endpoint that takes small ranges of blocks only', skip, async (t) => {
  const chain = await startChain(t);
  const ann = chain.agent(1);
  t.equal(await ann.register(), 0);
  await mine(chain, 300);
  t.equal(await ann.register(), 1);
  const narrow = await narrowEndpoint(t, chain.url, 100);
  const agents = new AgentRegistry({ rpcUrl: narrow.url, address: chain.registry });
  await ann.transfer(0, chain.agent(2).address);
  t.equal(await agents.agentOf(ann.address), 1);
  t.ok(narrow.refused > 0, 'large ranges were refused');
  const asked = narrow.asked;
  t.equal(await agents.agentOf(ann.address), 1);
  t.ok(narrow.asked - asked <= 1, 'what was read is not read again');
});

t.test('IDENT-08 IDENT-16 IDENT-17 agent ids of links', skip, async (t) => {
  const chain = await startChain(t);
  const [ann, bob] = [chain.agent(1), chain.agent(2)];
  t.equal(await ann.register(), 0);
  const environment = { CHAIN_RPC_URL: chain.url, ERC8004_REGISTRY: chain.registry };
  const stage = await identityStage(t, environment);
  const { ask, link, verify } = stage;
  await link('ann', ann.address.toLowerCase());
  await link('bob', bob.address);
  t.match((await verify('ann', walletOf(chain, 1))).body, { verified: true, agent_id: 0 });
  t.match((await verify('bob', walletOf(chain, 2))).body, { verified: true, agent_id: null });
  t.match((await ask('GET', '/identity/by-nick/ann')).body, { agent_id: 0, verified: 1, level: 0 });

  const log = await openLog(t, stage.nats);
  const place = { rpcUrl: chain.url, address: chain.registry };
  const agents = new AgentRegistry(place);
  const registry = new IdentityRegistry({ log, logger, agents, challenges: walletChallenges(log, 1) });
  const read = async () =>
    (await Promise.all(
      ['ann', 'bob'].map(async (nick) => (await ask('GET', `/identity/by-nick/${nick}`)).body),
    )) as { nick: string; wallet_address: string; agent_id: number | null }[];
  const look = async (asked = agents) => {
    const links = await read();
    let isFirst = true;
    const watch = new WatchRegistry({
      registry,
      agents: asked,
      logger,
      // the read model is the service's; here it is asked through the front door
      read: async <T>() => {
        const page = isFirst ? links : [];
        isFirst = false;
        return page as T;
      },
    });
    return await watch.look();
  };
  t.same(await look(), { links: 2, changed: 0 });
  t.equal(await bob.register(), 1);
  await ann.transfer(0, bob.address);
  t.same(await look(), { links: 2, changed: 2 });
  const seen = async () => (await read()).map(({ agent_id }) => agent_id);
  await reaches(seen, [null, 1], t);
  t.same(await look(), { links: 2, changed: 0 }, 'nothing new');

  chain.pause();
  const impatient = new AgentRegistry({ ...place, timeoutMs: 300 });
  await t.rejects(look(impatient), 'a chain that does not answer');
  t.same(await seen(), [null, 1]);
  const slow = newWallet();
  await link('slow', slow.address);
  t.match((await verify('slow', slow)).body, { verified: true, agent_id: null });
  chain.resume();

  const versions: (number | undefined)[] = [];
  for await (const fact of log.subject(identity, 'identity.registry')) {
    if (fact.data.nick === 'bob' && 'sync_version' in fact.data) versions.push(fact.data.sync_version);
  }
  t.same(versions, [1, 2], 'once for the verification, once for the agent id');
});

async function reaches(look: () => Promise<unknown>, wanted: unknown, t: Test): Promise<void> {
  await eventually(
    `the read model to show ${JSON.stringify(wanted)}`,
    async () => JSON.stringify(await look()) === JSON.stringify(wanted),
  );
  t.pass(`it shows ${JSON.stringify(wanted)}`);
}

async function mine(chain: TestChain, blocks: number): Promise<void> {
  await fetch(chain.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'anvil_mine',
      params: [`0x${blocks.toString(16)}`],
    }),
  });
}

/** An endpoint in front of a chain that refuses to look through more than so many blocks at once. */
async function narrowEndpoint(t: Teardown, chainUrl: string, blocks: number) {
  const endpoint = { url: '', refused: 0, asked: 0 };
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { id, method, params } = JSON.parse(body) as {
      id: number;
      method: string;
      params: { fromBlock: string; toBlock: string }[];
    };
    response.setHeader('content-type', 'application/json');
    if (method === 'eth_getLogs') {
      endpoint.asked += 1;
      const [{ fromBlock = '0x0', toBlock = '0x0' } = {}] = params;
      if (Number(toBlock) - Number(fromBlock) + 1 > blocks) {
        endpoint.refused += 1;
        const error = { code: -32_005, message: 'query exceeds max block range' };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        return;
      }
    }
    const answer = await fetch(chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return endpoint;
}

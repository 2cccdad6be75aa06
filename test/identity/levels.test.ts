import pino from 'pino';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { walletChallenges } from '../../src/operations/identity/challenges.js';
import { identity } from '../../streams/identity/index.js';
import { IdentityRegistry } from '../../workers/identity/index.js';
import { AgentRegistry } from '../../workers/identity/registry-watch/agents.js';
import { WatchRegistry } from '../../workers/identity/registry-watch/index.js';
import { blocksOf, shell } from '../readme/blocks.js';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { startChain, withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { botStage } from './bot-stage.js';
import { openLog } from './log.js';

const logger = pino({ level: 'silent' });
const skip = { skip: withoutAnope || withoutChain };
const withoutServices = { skip: withoutAnope };

t.test('NICKS-08 from nothing to level 3, and back to level 2', skip, async (t) => {
  const [network, chain] = await Promise.all([startAccountNetwork(t), startChain(t)]);
  const place = { rpcUrl: chain.url, address: chain.registry };
  const stage = await botStage(t, network.ircd, {
    CHAIN_RPC_URL: place.rpcUrl,
    ERC8004_REGISTRY: place.address,
  });
  const { say, ask } = stage;
  const wallet = privateKeyToAccount(chain.keyOf(1));
  const ann = await stage.person('ann');
  const link = async () => (await ask('GET', '/identity/by-nick/ann')).body;

  await network.register(ann, 'anns-own');
  t.match(await say(ann, `LINK ${wallet.address}`), /^ann is linked with/);
  t.match(await link(), { verified: 0, level: 1, agent_id: null });

  await chain.agent(2).register(); // somebody else's, so that the one below is not the first
  const agentId = await chain.agent(1).register();
  t.equal(agentId, 1);
  const [challenge = ''] = /svc:verify:ann:\d{10}:[0-9a-f]{6}$/.exec(await say(ann, 'VERIFY')) ?? [];
  const signature = await wallet.signMessage({ message: challenge });
  t.equal(await say(ann, `VERIFY ${signature}`), `ann is verified as ${wallet.address}, agent 1`);
  t.match(await link(), { wallet_address: wallet.address, verified: 1, level: 3, agent_id: 1 });
  t.match(await say(ann, 'WHOAMI'), /, verified, level 3 \(registered\), agent 1$/);

  // the hourly look, now
  const log = await openLog(t, stage.nats);
  const agents = new AgentRegistry(place);
  const look = async () => {
    const links = [await link()];
    return await new WatchRegistry({
      registry: new IdentityRegistry({ log, logger, agents, challenges: walletChallenges(log, 1) }),
      agents,
      logger,
      // the read model is the service's; here it is asked through the front door
      read: async <T>() => links.splice(0) as T,
    }).look();
  };
  t.same(await look(), { links: 1, changed: 0 });
  await chain.agent(1).transfer(agentId, chain.agent(3).address);
  t.same(await look(), { links: 1, changed: 1 });
  await eventually('level 2', async () => (await link()).level === 2);
  t.match(await link(), { verified: 1, level: 2, agent_id: null });
  t.match(await say(ann, 'WHOAMI'), /, verified, level 2 \(verified\)$/);

  const versions: number[] = [];
  for await (const { data } of log.subject(identity, 'identity.registry'))
    if ('sync_version' in data) versions.push(data.sync_version as number);
  t.same(versions, [1, 2], 'once for the verification with its agent, once for the loss of it');
});

t.test('NICKS-08 the way that the documentation shows', withoutServices, async (t) => {
  const network = await startAccountNetwork(t);
  const stage = await botStage(t, network.ircd);
  const alice = await stage.person('alice');
  let key = '';
  let address = '';
  let signature = '';
  for (const { language, text } of blocksOf('docs/guides/identity.md')) {
    if (language === 'irc') {
      for (const [, to, said] of text.matchAll(/^\/msg (\S+) (.+)$/gm)) {
        const from = alice.lines.length;
        alice.send(`PRIVMSG ${to} :${said!.replace('<address>', address).replace('<signature>', signature)}`);
        await alice.waitUntil(() => alice.lines.length > from, `an answer to ${said}`);
      }
    } else if (text.startsWith('export WALLET_KEY=')) {
      const { code, out, err } = await shell(`${text}echo "$WALLET_KEY"`, {});
      t.equal(code, 0, err);
      [address = '', key = ''] = out.trim().split('\n');
    } else if (text.startsWith('node ')) {
      const challenge = /svc:verify:alice:\S+$/.exec(alice.lines.at(-1)!.text)?.[0];
      t.ok(challenge);
      const { code, out, err } = await shell(text.replace(/svc:verify:[^']+/, challenge!), {
        WALLET_KEY: key,
      });
      t.equal(code, 0, err);
      signature = out.trim();
    }
  }
  const { body } = await stage.ask('GET', '/identity/by-nick/alice');
  t.match(body, { wallet_address: address, verified: 1, level: 2 });
});

import { A2AClient, ClientFactory } from '@a2a-js/sdk/client';
import {
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  ClientFactory as LaterClientFactory,
  ClientFactoryOptions as LaterOptions,
} from 'a2a-sdk-1/client';
import t from 'tap';
import { cardPaths } from '../../src/a2a/card.js';
import { startNats } from '../support/nats.js';
import { agentServer } from './stage.js';

const question = (text: string) => ({
  message: {
    kind: 'message' as const,
    messageId: crypto.randomUUID(),
    role: 'user' as const,
    parts: [{ kind: 'text' as const, text }],
  },
});

t.test('the clients that other agents have', async (t) => {
  const nats = await startNats(t);
  const { url } = await agentServer(t, { natsUrl: nats.url });

  t.test('A2A-01 the card is the same at four places', async (t) => {
    const cards = await Promise.all(
      [...cardPaths, '/a2a/v1'].map(async (path) => (await fetch(url + path)).json()),
    );
    t.equal(cards.length, 4);
    for (const card of cards) t.same(card, cards[0]);
    t.match(cards[0], {
      protocolVersion: '0.3.0',
      version: '0.1.0',
      preferredTransport: 'JSONRPC',
      url: `${url}/a2a/v1`,
      capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
      supportsAuthenticatedExtendedCard: false,
      defaultInputModes: ['application/json', 'text/plain'],
      defaultOutputModes: ['application/json', 'text/plain'],
    });
    const { skills } = cards[0] as {
      skills: { id: string; name: string; description: string; tags: string[] }[];
    };
    t.same(skills.map(({ id }) => id).sort(), [
      ...['agent-leaderboard', 'channel-leaderboard', 'irc-network-stats', 'list-channels'],
    ]);
    for (const { name, description, tags } of skills) t.ok(name && description && tags.length > 0);
  });

  t.test('A2A-11 the client of 0.3', async (t) => {
    const client = await A2AClient.fromCardUrl(`${url}/.well-known/agent-card.json`);
    const sent = await client.sendMessage(question('Which channels are there?'));
    if (!('result' in sent) || sent.result.kind !== 'task') return t.fail(JSON.stringify(sent));
    t.equal(sent.result.status.state, 'completed');
    t.match(await client.getTask({ id: sent.result.id }), {
      result: { id: sent.result.id, artifacts: Array },
    });
    t.match(await client.cancelTask({ id: sent.result.id }), { error: { code: -32002 } });
    t.match(await client.getTask({ id: crypto.randomUUID() }), { error: { code: -32001 } });
  });

  t.test('A2A-11 the factory of 0.3', async (t) => {
    const client = await new ClientFactory().createFromUrl(url);
    const answer = await client.sendMessage(question('How many users are online?'));
    if (answer.kind !== 'task') return t.fail(JSON.stringify(answer));
    t.match(answer, { status: { state: 'completed' }, artifacts: [{ name: 'irc-network-stats' }] });
    t.match(await client.getTask({ id: answer.id }), { id: answer.id });
    await t.rejects(client.cancelTask({ id: answer.id }), { name: 'TaskNotCancelableError' });
    await t.rejects(client.getTask({ id: 'none' }), { name: 'TaskNotFoundError' });
    // a client that would rather stream asks at once where the card says that it cannot
    const seen = [];
    for await (const event of client.sendMessageStream(question('agent leaderboard'))) seen.push(event);
    t.match(seen, [{ kind: 'task', artifacts: [{ name: 'agent-leaderboard' }] }]);
  });

  t.test('A2A-11 a client of 1.0 that knows 0.3', async (t) => {
    const legacyCompat = { enabled: true };
    const factory = new LaterClientFactory(
      LaterOptions.createFrom(LaterOptions.default, {
        transports: [new JsonRpcTransportFactory({ legacyCompat })],
        cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
      }),
    );
    const client = await factory.createFromUrl(url);
    const message = {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: 1,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      parts: [
        {
          content: { $case: 'text', value: 'list-channels' },
          metadata: undefined,
          filename: '',
          mediaType: 'text/plain',
        },
      ],
    };
    const answer = (await client.sendMessage({
      tenant: '',
      message,
      configuration: undefined,
      metadata: undefined,
    } as unknown as Parameters<typeof client.sendMessage>[0])) as {
      id: string;
      artifacts: { name: string }[];
    };
    t.match(answer, { artifacts: [{ name: 'list-channels' }] });
    t.match(await client.getTask({ tenant: '', id: answer.id } as Parameters<typeof client.getTask>[0]), {
      id: answer.id,
    });
  });
});

import t from 'tap';
import { newWallet } from '../auth/stage.js';
import { identityStage } from '../identity/stage.js';
import { freePort } from '../support/ports.js';

const key = 'k'.repeat(40);

t.test('the doors of a running service', async (t) => {
  const port = String(await freePort());
  const publicUrl = `http://127.0.0.1:${port}`;
  const stage = await identityStage(t, { PUBLIC_URL: publicUrl, PORT: port, API_KEYS: `ops:${key}` });
  const { ask } = stage;
  t.equal(stage.app.url, publicUrl);

  await t.test('DISC-08 a wallet finds its way from the protected resource to the tools', async (t) => {
    const refused = await fetch(`${publicUrl}/mcp`, {
      method: 'POST',
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      headers: { 'content-type': 'application/json' },
    });
    t.equal(refused.status, 401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    const metadata = (await (await fetch(metadataUrl)).json()) as {
      resource: string;
      'x-authentication-schemes': { policy_url: string; nonce_endpoint: string }[];
    };
    const [{ policy_url, nonce_endpoint } = { policy_url: '', nonce_endpoint: '' }] =
      metadata['x-authentication-schemes'];
    const policy = (await (await fetch(policy_url)).json()) as { tiers: Record<string, { tools: number }> };
    const { nonce } = (await (await fetch(nonce_endpoint)).json()) as { nonce: string };
    const wallet = newWallet();
    const answer = await wallet.client.fetch(
      metadata.resource,
      {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        headers: { 'content-type': 'application/json' },
      },
      { nonce, ttlSeconds: 300 },
    );
    t.equal(answer.status, 200);
    const { result } = (await answer.json()) as { result: { tools: unknown[] } };
    t.equal(result.tools.length, policy.tiers['wallet-read']?.tools);
    t.same(policy.tiers, {
      keyed: { tools: 57, mutating: 20, moves_money: 6 },
      'wallet-read': { tools: 24, mutating: 0, moves_money: 0 },
    });
  });

  await t.test('DISC-08 what the documents name is there', async (t) => {
    const { body } = await ask('GET', '/.well-known/api-catalog');
    const hrefs = (body.linkset as Record<string, unknown>[]).flatMap(({ anchor: _, ...relations }) =>
      (Object.values(relations) as { href: string }[][]).flat().map(({ href }) => href),
    );
    for (const href of new Set(hrefs)) t.equal((await fetch(href)).status, 200, href);
    t.equal((await ask('GET', '/.well-known/openid-configuration')).status, 404);
  });

  await t.test('DISC-08 every read that the skill tells of is there', async (t) => {
    const { files } = (await ask('GET', '/skill/version')).body as { files: string[] };
    for (const file of files) {
      const text = await (await fetch(`${publicUrl}/skill/${file}`)).text();
      const addresses = [
        ...text.matchAll(/(?:GET |curl -sN? "?|\()(?:http:\/\/127\.0\.0\.1:\d+)?(\/[^\s"`)|,]*)/g),
      ];
      for (const [, path = ''] of addresses) {
        if (path.includes('<') || path.includes('{') || path.startsWith('/irc/stream')) continue;
        const answer = await fetch(publicUrl + path);
        // the channel of an example need not be there; the route must
        t.notMatch(await answer.text(), 'There is nothing at', `${file} ${path}`);
      }
    }
  });

  await t.test('DISC-08 the agent answers from what is there', async (t) => {
    for (const skill of ['irc-network-stats', 'list-channels', 'channel-leaderboard', 'agent-leaderboard']) {
      const parts = [{ kind: 'data', data: { skill } }];
      const params = { message: { messageId: 'm', role: 'user', parts } };
      const answer = await ask('POST', '/a2a/v1', { jsonrpc: '2.0', id: 1, method: 'message/send', params });
      t.match(
        answer.body,
        { result: { status: { state: 'completed' }, artifacts: [{ name: skill }] } },
        skill,
      );
    }
  });
});

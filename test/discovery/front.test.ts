import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { startApp } from '../support/app.js';
import { openPage, withoutBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const key = 'k'.repeat(40);

t.test('the front door', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
    IRC_PUBLIC_URL: 'ircs://irc.example:6697',
    API_KEYS: `ops:${key}`,
  });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(app.url + path, { headers });

  const client = new Client({ name: 'newcomer', version: '1' });
  const requestInit = { headers: { 'x-mcp-api-key': key } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit }) as never);
  t.teardown(() => client.close());

  t.test('DISC-10 programs get Markdown, whose addresses lead somewhere', async (t) => {
    for (const path of ['/', '/llms.txt']) {
      for (const accept of ['*/*', 'text/markdown, text/html', 'application/json']) {
        const answer = await get(path, { accept });
        t.equal(answer.status, 200);
        t.equal(answer.headers.get('content-type'), 'text/markdown; charset=utf-8', `${path} ${accept}`);
      }
    }
    const text = await (await get('/')).text();
    t.equal(text, await (await get('/llms.txt')).text());
    t.match(text, 'ircs://irc.example:6697');
    t.match(text, '57 tools with an API key, 24 with a wallet');
    t.notMatch(text, new URL(ircd.url).port, 'what only the service uses is not told');
    // PUBLIC_URL has the port of the settings, not the one that the system chose
    const paths = [...text.matchAll(/http:\/\/localhost:\d+(\/(?:[\w/?=-]|\.\w)*)/g)].map(
      ([, path]) => path!,
    );
    t.ok(paths.length >= 12, `${paths.length} addresses`);
    for (const path of new Set(paths)) {
      const { status } = await get(path);
      const isDoor = ['/mcp', '/hooks/em/events'].includes(path);
      t.equal(status, isDoor ? 405 : path.includes('/lobby/') ? status : 200, path);
    }
  });

  t.test('DISC-10 a browser gets a page that lets nothing in', async (t) => {
    const answer = await get('/', { accept: browser });
    t.match(answer.headers.get('content-type'), 'text/html');
    t.match(answer.headers.get('content-security-policy'), /default-src 'none'; script-src 'sha256-/);
    t.equal(answer.headers.get('vary'), 'accept');
    t.match(await answer.text(), 'ircs://irc.example:6697');
  });

  t.test('DISC-11 cards and catalogs name the skill, and so does every 404', async (t) => {
    for (const path of [
      ...['/.well-known/agent-card.json', '/.well-known/ai-catalog.json', '/.well-known/api-catalog'],
      ...['/mcp/server-card', '/llms.txt'],
    ]) {
      t.match(await (await get(path)).text(), '/skill.md', path);
    }
    for (const path of ['/nowhere', '/irc/channels/nowhere', '/identity/by-nick/nobody']) {
      const answer = await get(path);
      t.equal(answer.status, 404, path);
      t.equal(answer.headers.get('link'), '</skill.md>; rel="help"', path);
    }
    t.match(await (await get('/nowhere')).json(), { code: 'not_found', hint: /\/skill\.md/ });
    t.match(client.getInstructions(), /svc_list_channels.*\/skill\.md/s);
    const { tools } = await client.listTools();
    for (const [name] of client.getInstructions()!.matchAll(/svc_\w+/g))
      t.ok(
        tools.some((tool) => tool.name === name),
        name,
      );
  });

  t.test('DISC-10 a person sees the network live', { skip: withoutBrowser }, async (t) => {
    const alice = await observe(ircd.port, { nick: 'alice', password: ircd.serverPassword });
    t.teardown(() => alice.stop());
    await alice.join('#lobby');
    await alice.ask('PRIVMSG #lobby :<b>hello</b> from alice');
    const rated = await client.callTool({
      name: 'svc_give_feedback',
      arguments: { from_nick: 'bob', nick: 'alice', channel: '#lobby', rating: 5 },
    });
    t.notOk(rated.isError, JSON.stringify(rated));
    const { page, problems } = await openPage(t);
    const shown = async () => [
      await page.locator('#lines span').allTextContents(),
      await page.locator('#agents span').allTextContents(),
      await page.locator('#rated li').allTextContents(),
    ];
    await eventually('the line and the rating to be shown', async () => {
      await page.goto(app.url);
      await page.locator('#channels a').first().waitFor();
      await page.locator('#agents span').first().waitFor();
      await page.locator('#rated a').first().waitFor();
      const [lines, agents, rated] = await shown();
      return (
        lines!.includes('<b>hello</b> from alice') &&
        agents!.includes('alice') &&
        rated!.includes('#lobby5 of 5, 1 rating')
      );
    });
    t.equal(await page.locator('#lines span b').count(), 0, 'text stays text');
    t.match(await page.locator('#counts').textContent(), /\d+ users? · \d+ channels/);
    t.same(problems, [], 'and nothing of it is refused by the browser');
  });
});

import { request } from 'node:http';
import MiniSearch from 'minisearch';
import pino from 'pino';
import t from 'tap';
import { documents } from '../../scripts/documents.js';
import { fields, searchOptions, tokenize } from '../../scripts/guide/ranking.js';
import { createServer } from '../../src/http/server.js';
import { guideRoutes } from '../../src/pages/guide.js';
import '../support/contract.js';
import { openPage, withoutBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { temporaryDirectory } from '../support/sql.js';

const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
await server.register(guideRoutes);
await server.listen({ host: '127.0.0.1', port: 0 });
const { port } = server.server.address() as { port: number };
const url = `http://127.0.0.1:${port}`;
t.teardown(() => server.close());

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const addresses = documents('docs').map((file) =>
  `/guide/${file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '')}`.replace(/\/$/, ''),
);

/** Sends a path as it is: `fetch` would take dots out of it. */
const statusOf = (path: string) =>
  new Promise<number>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path }, (answer) => resolve(answer.resume().statusCode!))
      .on('error', reject)
      .end();
  });

t.test('GUIDE-01 every document is a page, and every link of the pages leads somewhere', async (t) => {
  const pages = new Map<string, string>();
  const waiting = [...addresses];
  const linked = new Set<string>();
  t.ok(addresses.length > 40, `${addresses.length} documents`);
  for (let path = waiting.shift(); path; path = waiting.shift()) {
    if (pages.has(path)) continue;
    const answer = await fetch(url + path);
    t.equal(answer.status, 200, path);
    const text = await answer.text();
    pages.set(path, text);
    if (!answer.headers.get('content-type')!.startsWith('text/html')) continue;
    t.match(text, /^<!doctype html>\n<html lang="en">.*<h1 id="[^"]+">[^<]/s, path);
    for (const [, target = ''] of text.matchAll(/ (?:href|src|data-index)="([^"]*)"/g)) {
      const { pathname, hash, origin } = new URL(target, url + path);
      if (origin !== url || !pathname.startsWith('/guide')) continue;
      linked.add(pathname + hash);
      waiting.push(pathname);
    }
  }
  for (const address of linked) {
    const [path = '', anchor] = address.split('#');
    if (anchor) t.match(pages.get(path), ` id="${decodeURIComponent(anchor)}"`, address);
  }
  t.ok(linked.size > 300, `${linked.size} links`);
  for (const room of ['streams', 'projections', 'workers', 'src', 'examples'])
    t.ok(pages.has(`/guide/${room}`));
  t.match(pages.get('/guide/examples/producer.py'), 'import ');
  t.match(
    pages.get('/guide/explanation/how-a-line-is-shown-once'),
    /<figure class="diagram".*<svg .*Delivery worker/s,
  );
  for (const [path, text] of pages)
    t.notMatch(text, /(src|href)="http[^"]*\.(js|css|woff2?)"|@import|language-mermaid/, path);
});

t.test('GUIDE-02 types, caching, and what is not there', async (t) => {
  const [, version] = /guide\.css\?v=([\w-]+)/.exec(await (await fetch(`${url}/guide`)).text()) ?? [];
  t.ok(version);
  for (const [path, type] of [
    ['/guide', 'text/html; charset=utf-8'],
    ['/guide/', 'text/html; charset=utf-8'],
    ['/guide/glossary', 'text/html; charset=utf-8'],
    [`/guide/guide.css?v=${version}`, 'text/css; charset=utf-8'],
    ['/guide/search.js', 'text/javascript; charset=utf-8'],
    ['/guide/search.json', 'application/json'],
    ['/guide/examples/producer.ts', 'text/plain; charset=utf-8'],
  ] as const) {
    const answer = await fetch(url + path);
    t.equal(answer.headers.get('content-type'), type, path);
    t.match(
      answer.headers.get('content-security-policy'),
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    const etag = answer.headers.get('etag')!;
    const again = await fetch(url + path, { headers: { 'if-none-match': etag } });
    t.equal(again.status, 304, path);
  }
  for (const path of [
    '/guide/nowhere',
    '/guide/404',
    '/guide/guides',
    '/guide/index',
    '/guide/glossary.html',
  ]) {
    const page = await fetch(url + path, { headers: browser });
    t.equal(page.status, 404, path);
    t.match(page.headers.get('content-type'), 'text/html');
    t.match(await page.text(), /There is no such page.*href="\/guide"/s);
    const answer = await fetch(url + path);
    t.equal(answer.status, 404);
    t.match(await answer.json(), { code: 'not_found' });
  }
});

t.test('GUIDE-02 no path leads out of the site', async (t) => {
  for (const up of ['..', '%2e%2e', '..%2f..', '%2e%2e%2f%2e%2e', '..%5c..', '....//..', '%252e%252e'])
    for (const path of [
      `/guide/${up}/package.json`,
      `/guide/guides/${up}/${up}/package.json`,
      `/guide/${up}/main.js`,
    ])
      t.ok([400, 404].includes(await statusOf(path)), path);
  t.equal(await statusOf('/guide//etc/passwd'), 404);
  t.equal(await statusOf('/guide/%00'), 404);
});

t.test('GUIDE-02 where nothing was built, programs and people are told so', async (t) => {
  const bare = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
  await bare.register(guideRoutes, { directory: `${await temporaryDirectory(t)}/none` });
  for (const headers of [browser, {}]) {
    const { statusCode, body } = await bare.inject({ url: '/guide', headers });
    t.equal(statusCode, 404);
    t.match(JSON.parse(body), { code: 'not_found' });
  }
});

t.test('GUIDE-03 the site in a browser', { skip: withoutBrowser }, async (t) => {
  const { page, problems } = await openPage(t);
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  const until = (what: string, check: () => Promise<boolean>) => eventually(what, check);
  const query = page.getByRole('searchbox', { name: 'Search the guide' });

  await t.test('the search finds a word of one page, by keyboard alone', async (t) => {
    await page.goto(`${url}/guide`);
    await page.keyboard.press('/');
    await page.keyboard.type('UNKNOWN_EVENTS');
    await until('the results', async () => (await page.locator('#found a').count()) > 0);
    const first = page.locator('#found a').first();
    t.match(await first.textContent(), /Settings|webhook|Operate/i);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until('the page', async () => /\/guide\/.+/.test(page.url()));
    t.match(await page.locator('main').textContent(), 'UNKNOWN_EVENTS');

    await query.fill('redrvie'); // misspelt
    await until('its results', async () =>
      /Redrive/.test((await page.locator('#found').textContent()) ?? ''),
    );
    await query.fill('zyzzyva');
    await until(
      'the word that there are none',
      async () => (await page.locator('#count').textContent()) === 'Nothing found',
    );
    await query.fill('<img src=x>');
    await page.keyboard.press('Escape');
    t.equal(await page.locator('#found').isVisible(), false);
  });

  await t.test('in dark and light, wide and narrow, nothing is wider than the screen', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1200, 360]) {
        await page.setViewportSize({ width, height: 700 });
        for (const path of [
          '/guide',
          '/guide/reference/errors',
          '/guide/explanation/how-a-line-is-shown-once',
        ]) {
          await page.goto(url + path);
          const across = await page.evaluate('document.documentElement.scrollWidth');
          t.ok(Number(across) <= width, `${path} is ${across} wide at ${width}`);
          t.equal(await page.locator('nav').isVisible(), width > 900, `${path} at ${width}`);
        }
      }
    }
    await page.goto(`${url}/guide/glossary`);
    await page.getByRole('button', { name: 'Pages' }).click();
    await page.getByRole('link', { name: 'Your first event' }).click();
    await until('the page', async () => page.url().endsWith('/guide/tutorials/first-event'));
    t.equal(await page.locator('nav').isVisible(), false);
  });

  t.same(problems, []);
  t.same([...asked], [url], 'nothing is asked of another host');

  await t.test('without scripts it is read as well', async (t) => {
    const plain = await page.context().browser()!.newContext({ javaScriptEnabled: false });
    t.teardown(() => plain.close());
    const other = await plain.newPage();
    await other.goto(`${url}/guide`);
    t.equal(await other.locator('search').isVisible(), false);
    await other.getByRole('navigation').getByRole('link', { name: 'Redrive and redeliver' }).click();
    t.match(await other.locator('h1').textContent(), 'Redrive');
  });
});

t.test('GUIDE-01 the search finds the page on how to do something first', async (t) => {
  const sections = (await (await fetch(`${url}/guide/search.json`)).json()) as { id: string }[];
  const index = new MiniSearch({ fields, storeFields: fields, tokenize, searchOptions });
  index.addAll(sections);
  for (const [query, page] of [
    ['dead letter', 'guides/redrive'],
    ['redrive', 'guides/redrive'],
    ['back up', 'guides/move-to-another-machine'],
    ['rebuild', 'guides/rebuild-and-replay'],
    ['proxy', 'guides/deploy-behind-a-proxy'],
    ['sell', 'guides/sell-a-channel'],
    ['first event', 'tutorials/first-event'],
    ['UNKNOWN_EVENTS', 'reference/configuration'],
    ['EVENT_MAX_RETRIES', 'guides/redrive'],
  ] as const) {
    const found = index.search(query).slice(0, 4);
    t.ok(
      found.some(({ id }) => `${id}`.startsWith(`/guide/${page}`)),
      `${query}: ${found.map(({ id }) => id).join(' ')}`,
    );
  }
});

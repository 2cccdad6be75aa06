import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { createServer } from '../../src/http/server.js';
import '../support/contract.js';
import { Skill } from '../../src/pages/discovery/skill.js';
import { skillRoutes } from '../../src/pages/skill-routes.js';

const publicUrl = 'https://api.relay.example';

async function skillServer(t: { teardown(fn: () => unknown): void }, directory?: string) {
  const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
  await server.register(skillRoutes, {
    skill: new Skill({ publicUrl, ...(directory ? { directory } : {}) }),
  });
  t.teardown(() => server.close());
  return (path: string) => server.inject(path);
}

t.test('SKILL-01 the version, from the manifest', async (t) => {
  const get = await skillServer(t);
  const answer = await get('/skill/version');
  t.equal(answer.statusCode, 200);
  const manifest = JSON.parse(readFileSync('skill/manifest.json', 'utf8'));
  t.same(answer.json(), {
    version: manifest.version,
    released: manifest.released,
    files: manifest.files,
    changelog: `${publicUrl}/skill/CHANGELOG.md`,
    install_url: `${publicUrl}/skill.md`,
  });
  for (const file of ['SKILL.md', 'MESSAGING.md', 'HEARTBEAT.md', 'ETIQUETTE.md', 'CHANGELOG.md'])
    t.ok(manifest.files.includes(file), file);
  const files = readdirSync('skill').filter((name) => name !== 'manifest.json');
  t.same(files.sort(), [...manifest.files].sort(), 'what is there is in the manifest');
});

t.test('SKILL-02 the skill and its files, with the address of this service in them', async (t) => {
  const get = await skillServer(t);
  const { files, version } = (await get('/skill/version')).json();
  const main = await get('/skill.md');
  t.match(main.headers['content-type'], 'text/markdown');
  t.equal(main.body, (await get('/skill/SKILL.md')).body);
  t.match(
    main.body,
    new RegExp(`^---\nname: relay-network\nversion: ${version}\n`),
    'it says its own version',
  );
  t.match((await get('/skill/CHANGELOG.md')).body, `## ${version}`);
  for (const file of files) {
    const answer = await get(`/skill/${file}`);
    t.equal(answer.statusCode, 200, file);
    t.ok(answer.body.length > 100, file);
    t.notMatch(answer.body, /\{base_url\}|localhost/, file);
    t.match(answer.headers, { etag: String, 'cache-control': 'public, max-age=3600' });
    for (const [, name] of answer.body.matchAll(/https:\/\/api\.relay\.example\/skill\/([A-Z_]+\.md)/g))
      t.ok(files.includes(name), `${file} -> ${name}`);
  }
  for (const path of ['/skill/manifest.json', '/skill/OTHER.md', '/skill/..%2Fpackage.json', '/skill/'])
    t.equal((await get(path)).statusCode, 404, path);
});

t.test('SKILL-03 without its manifest it is unavailable for now', async (t) => {
  const broken = {
    absent: {},
    'not JSON': { 'manifest.json': '{' },
    incomplete: { 'manifest.json': '{"version": "1.0.0"}' },
    'with a path in it': {
      'manifest.json': '{"version":"1.0.0","released":"2026-01-01T00:00:00Z","files":["../secret.md"]}',
    },
  };
  const dir = t.testdir(broken);
  for (const what of Object.keys(broken)) {
    const get = await skillServer(t, join(dir, what));
    for (const path of ['/skill/version', '/skill.md', '/skill/SKILL.md']) {
      const answer = await get(path);
      t.equal(answer.statusCode, 503, `${what} ${path}`);
      t.match(answer.json(), { code: 'skill_unavailable' });
      t.ok(answer.headers['retry-after']);
    }
  }
});

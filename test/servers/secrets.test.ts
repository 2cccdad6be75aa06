import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { loadSecrets, storedSecrets } from '../../src/servers/secrets.js';

t.test('generated once, for the owner only', async (t) => {
  const dir = join(t.testdir(), 'data');
  const secrets = await loadSecrets(dir);
  t.match(secrets.webhookSecret, /^[0-9a-f]{64}$/);
  t.equal(new Set(Object.values(secrets)).size, 6, 'none is used twice');
  t.equal((await stat(join(dir, 'secrets.json'))).mode & 0o777, 0o600);
  t.same(await loadSecrets(dir), secrets);
  t.same(await readdir(dir), ['secrets.json']);
  t.not((await loadSecrets(t.testdir())).webhookSecret, secrets.webhookSecret);
});

t.test('what is there stays, what is missing is added, a lax mode is tightened', async (t) => {
  const dir = t.testdir({ 'secrets.json': '{"em_webhook_secret": "mine", "of_a_newer_release": "kept"}' });
  const file = join(dir, 'secrets.json');
  const secrets = await loadSecrets(dir);
  t.equal(secrets.webhookSecret, 'mine');
  t.equal(JSON.parse(await readFile(file, 'utf8')).of_a_newer_release, 'kept');
  await chmod(file, 0o644);
  t.same(await loadSecrets(dir), secrets);
  t.equal((await stat(file)).mode & 0o777, 0o600);
});

t.test('a damaged file is an error, not a reason for new secrets', async (t) => {
  const dir = t.testdir({ 'secrets.json': '{"em_webhook_secret": ' });
  await t.rejects(loadSecrets(dir), { message: /secrets\.json cannot be read: mend it, or delete it/ });
  await writeFile(join(dir, 'secrets.json'), '{"em_webhook_secret": 7}');
  await t.rejects(loadSecrets(dir), { message: /cannot be read/ });
});

t.test('START-09 a webhook secret that is lost while there is an event log', async (t) => {
  const dir = t.testdir({ nats: { store: {} } });
  const file = join(dir, 'secrets.json');
  const warnings: string[] = [];
  const load = () => loadSecrets(dir, (text) => void warnings.push(text));
  const first = await load();
  t.match(warnings, [/secrets\.json had no webhook secret .* Put the old file back .* em_webhook_secret/]);
  t.match(await storedSecrets(dir), { ...first, remadeAt: /^\d{4}-.*Z$/ });
  t.same(await load(), first);
  t.equal(warnings.length, 1, 'said once');

  const { irc_services_password: _, remade_at: __, ...older } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(older));
  await load();
  t.equal(warnings.length, 1, 'not of what a newer release adds');
  t.equal((await storedSecrets(dir)).remadeAt, undefined);

  const fresh: string[] = [];
  await loadSecrets(t.testdir(), (text) => void fresh.push(text));
  t.same(fresh, [], 'nor where there is no log');
});

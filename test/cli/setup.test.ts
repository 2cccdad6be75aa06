import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

t.test('START-10 what is built is built once, and again when a file of it is gone', async (t) => {
  const made = 'mkdir -p src/client && echo types >src/client/api.ts';
  const scripts = {
    build: `${made} && mkdir -p dist/chunks && echo a >dist/main.js && echo b >"dist/chunks/b c.js"`,
  };
  const dir = t.testdir({
    'package.json': JSON.stringify({ name: 'a-project', scripts }),
    scripts: { 'bundle.mjs': '' },
    src: { 'main.ts': 'a source', client: {} },
  });
  cpSync('scripts/setup', join(dir, 'scripts', 'setup'));
  const long = new Date(Date.now() - 60_000);
  for (const name of ['scripts/bundle.mjs', 'src/main.ts', 'src/client', 'src'])
    utimesSync(join(dir, name), long, long);
  // no server of our own is looked for
  const env = { PATH: process.env.PATH, NATS_URL: 'nats://127.0.0.1:1', IRC_URL: 'irc://127.0.0.1:1' };
  const setup = () => execFileSync('bash', ['scripts/setup'], { cwd: dir, env, encoding: 'utf8' });
  const built = 'setup: building the service, its client and the guide: a quarter of a minute or more\n';

  t.equal(setup(), built);
  t.equal(setup(), '');
  for (const file of ['dist/main.js', 'dist/chunks/b c.js']) {
    rmSync(join(dir, file));
    t.equal(setup(), built, `without ${file}`);
    t.match(readFileSync(join(dir, file), 'utf8'), /^[ab]\n$/);
    t.equal(setup(), '');
  }
  rmSync(join(dir, 'src/client/api.ts'));
  t.equal(setup(), built, "without the client's types");
  t.equal(setup(), '');
  writeFileSync(join(dir, 'dist/main.js'), '');
  t.equal(setup(), built, 'with an empty one');
  writeFileSync(join(dir, 'dist/.built'), '');
  t.equal(setup(), built, 'after a build that left no list');
  writeFileSync(join(dir, 'src/main.ts'), 'another source');
  t.equal(setup(), built, 'after a change');
  t.equal(setup(), '');
});

import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

t.test('START-10 what is built is built once, and again when a file of it is gone', async (t) => {
  const dir = t.testdir({
    'package.json': JSON.stringify({ name: 'a-project' }),
    scripts: {
      'bundle.mjs': '',
      build: `rm -rf dist && mkdir -p dist/chunks && echo a >dist/main.js && echo b >"dist/chunks/b c.js"
        if [[ \${1:-} == --client ]]; then
          mkdir -p dist/src/client && echo types | tee src/client/api.ts >dist/src/client/index.d.ts
        fi`,
    },
    src: { 'main.ts': 'a source', client: {} },
    '.tools': { 'alertmanager-irc-relay': {}, irker: {} }, // so that they are not looked for
  });
  cpSync('scripts/setup', join(dir, 'scripts', 'setup'));
  const long = new Date(Date.now() - 60_000);
  for (const name of ['scripts/bundle.mjs', 'scripts/build', 'src/main.ts', 'src/client', 'src'])
    utimesSync(join(dir, name), long, long);
  // no server of our own is looked for
  const env = { PATH: process.env.PATH, NATS_URL: 'nats://127.0.0.1:1', IRC_URL: 'irc://127.0.0.1:1' };
  const setup = (...args: string[]) =>
    execFileSync('bash', ['scripts/setup', ...args], { cwd: dir, env, encoding: 'utf8' });
  const built = 'setup: building the service and the guide\n';
  const builtWhole =
    'setup: building the service, the guide and the types of the client: a quarter of a minute or more\n';

  t.equal(setup(), built);
  t.equal(setup(), '');
  for (const file of ['dist/main.js', 'dist/chunks/b c.js']) {
    rmSync(join(dir, file));
    t.equal(setup(), built, `without ${file}`);
    t.match(readFileSync(join(dir, file), 'utf8'), /^[ab]\n$/);
    t.equal(setup(), '');
  }
  writeFileSync(join(dir, 'dist/main.js'), '');
  t.equal(setup(), built, 'with an empty one');
  writeFileSync(join(dir, 'dist/.built'), '');
  t.equal(setup(), built, 'after a build that left no list');
  writeFileSync(join(dir, 'src/main.ts'), 'another source');
  t.equal(setup(), built, 'after a change');
  t.equal(setup(), '');

  t.equal(setup('--bench'), builtWhole, 'development needs the client too');
  t.equal(setup('--bench'), '');
  for (const file of ['src/client/api.ts', 'dist/src/client/index.d.ts']) {
    rmSync(join(dir, file));
    t.equal(setup('--bench'), builtWhole, `without ${file}`);
    t.equal(setup(), '', 'a start has what it needs');
  }
  writeFileSync(join(dir, 'src/main.ts'), 'a third source');
  t.equal(setup(), builtWhole, 'a client that is there stays as new as the rest');
  t.equal(setup('--bench'), '');
  rmSync(join(dir, 'dist/main.js'));
  t.equal(setup('--packages'), '', 'who wants packages alone needs no build');
});

import { readdir } from 'node:fs/promises';
import t from 'tap';
import type { ViewedLine } from '../../src/ops/irc-viewer.js';
import { run } from './service-process.js';

async function leftIn(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((name) => !name.startsWith('tsx-')); // the loader's cache
}

t.test('the demo on a service of its own', async (t) => {
  const temporary = t.testdir();
  // settings of a service in use are no business of this one
  const env = {
    TMPDIR: temporary,
    DATA_DIR: `${temporary}/elsewhere`,
    PORT: '0',
    NATS_URL: 'nats://127.0.0.1:1',
    ROLES: 'api',
  };
  const { code, out, err } = await run(t, ['src/cli.ts', 'demo', '--json'], env).ended(60_000);
  t.equal(code, 0, err);
  const { lines, channels, statistics, health, repeated } = JSON.parse(out[0]!);
  t.equal(out.length, 1, 'one document');
  const kinds = new Set((lines as ViewedLine[]).map(({ text }) => /^\[([A-Z ]+)\]/.exec(text)?.[1]));
  for (const kind of [
    'NEW',
    'ASSIGNED',
    'COMPLETED',
    'PAID',
    'RATING',
    'REJECTED',
    'DISPUTED',
    'CANCELLED',
    'EXPIRED',
  ]) {
    t.ok(kinds.has(kind), kind);
  }
  for (const kind of ['RELAY', 'HANDOFF', 'RELAY COMPLETE']) t.ok(kinds.has(kind), kind);
  t.ok(channels.includes('#city-sao-paulo'));
  t.match(statistics, { pending: 0, delivered_today: 17, dead_letter: 0 });
  t.match(health, { status: 'ok', services: { bridge: { irc: { connected: true } } } });
  t.match(repeated, { status: 'already_processed', delivery_status: 'delivered' });
  t.same(await leftIn(temporary), [], 'nothing stays behind');
});

t.test('the demo as people see it, interrupted', async (t) => {
  const temporary = t.testdir();
  const program = run(t, ['src/cli.ts', 'demo', '--own'], { TMPDIR: temporary });
  await program.line((line) => /^\d\d:\d\d:\d\d {2}#bounties +\[NEW\] [0-9a-f]{8} \| /.test(line), 60_000);
  t.same(program.out.filter((line) => line.startsWith('== ')).slice(0, 2), [
    '== Stage',
    '== A task is published, taken, done, paid and rated',
  ]);
  program.child.kill('SIGINT');
  const { code, err } = await program.ended();
  t.equal(code, 1);
  t.match(err, /^relay: interrupted$/m);
  t.same(await leftIn(temporary), [], 'nothing stays behind');
});

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { lockDataDir } from '../../src/servers/data-dir-lock.js';
import { startHolder } from './holder.js';

t.test('a second holder is refused until the first gives it back', async (t) => {
  const dir = join(t.testdir(), 'made', 'on', 'demand');
  const release = await lockDataDir(dir);
  await t.rejects(lockDataDir(dir), {
    message: new RegExp(`${dir} is in use by process ${process.pid}: stop that one .* another DATA_DIR`),
  });
  await release();
  await (await lockDataDir(dir))();
  t.same(await readdir(dir), [], 'nothing is left behind');
});

t.test('another process is refused, and its kill -9 frees the directory', async (t) => {
  const dir = t.testdir();
  const holder = await startHolder(t, 'lock', dir);
  await t.rejects(lockDataDir(dir), { message: new RegExp(`in use by process ${holder.child.pid}`) });
  await holder.kill();
  const release = await lockDataDir(dir);
  t.same((await readdir(dir)).length, 1, 'the dead claim is tidied up');
  await release();
});

t.test('a frozen holder still holds', async (t) => {
  const dir = t.testdir();
  const holder = await startHolder(t, 'lock', dir);
  holder.child.kill('SIGSTOP');
  await t.rejects(lockDataDir(dir), { message: /in use by process/ });
});

t.test('of many that start at once at most one holds', async (t) => {
  const dir = t.testdir();
  for (let round = 0; round < 10; round += 1) {
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => lockDataDir(dir)));
    const held = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    t.ok(held.length <= 1, `${held.length} hold`);
    for (const outcome of held) await outcome.value();
  }
});

t.test(
  'a path longer than a socket address works on Linux',
  { skip: process.platform !== 'linux' && 'only Linux has such paths below /proc' },
  async (t) => {
    const dir = join(t.testdir(), 'deep'.repeat(20), 'deeper'.repeat(20));
    const release = await lockDataDir(dir);
    await t.rejects(lockDataDir(dir), { message: /in use by process/ });
    await release();
    t.same(await readdir(dir), []);
  },
);

t.test('a place that is no directory is an error', async (t) => {
  const dir = t.testdir({ taken: 'a file' });
  await t.rejects(lockDataDir(join(dir, 'taken')), { message: /a file is in the way/ });
});

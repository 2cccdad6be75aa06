import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { prepareDataDir } from '../../src/servers/data-dir.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';

t.test('START-01 a data directory is made, for the owner only, and left as it was found', async (t) => {
  const dir = join(t.testdir(), 'made', 'on', 'demand');
  await prepareDataDir(dir);
  await prepareDataDir(dir);
  t.equal((await stat(dir)).mode & 0o777, 0o700);
  t.same(await readdir(dir), []);
});

t.test('START-01 where no folder can be made, it says so and what to do', async (t) => {
  const dir = t.testdir({ file: '', link: t.fixture('symlink', 'nowhere') });
  const cases: [string, RegExp][] = [
    [join(dir, 'file'), /cannot be made, a file is in the way: set DATA_DIR to a folder$/],
    [join(dir, 'file', 'deeper', 'still'), /cannot be made, a file is in the way/],
    [join(dir, 'link', 'data'), /cannot be .*: set DATA_DIR to/],
  ];
  // a file system that takes no folders: Node's recursive mkdir tries for ever there
  if (process.platform === 'linux')
    cases.push(['/proc/relay/data', /cannot be written \(ENOENT\): set DATA_DIR/]);
  for (const [path, message] of cases) await t.rejects(prepareDataDir(path), { message }, path);
});

t.test('START-01 a disk that is mounted read-only', needsDisk, async (t) => {
  const disk = smallDisk(t, 4, 'ro');
  await t.rejects(prepareDataDir(disk.dir), {
    message: /cannot be written \(EROFS\): set DATA_DIR to a folder/,
  });
  await t.rejects(prepareDataDir(join(disk.dir, 'data')), { message: /EROFS/ });
});

t.test('START-02 a full disk is said as such', needsDisk, async (t) => {
  const disk = smallDisk(t, 4);
  await prepareDataDir(disk.dir);
  await disk.fill(200_000);
  await t.rejects(prepareDataDir(join(disk.dir, 'data')), {
    message: /the disk .* is full: free some space, or set/,
  });
  t.same(await readdir(join(disk.dir, 'data')), [], 'what was tried is removed');
});

import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import t from 'tap';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { KeyFile } from '../../src/auth/key-file.js';
import { eventually } from '../support/eventually.js';

const request = (key?: string) =>
  ({ ip: '192.0.2.1', headers: key === undefined ? {} : { 'x-api-key': key } }) as unknown as FastifyRequest;

t.test('AUTH-11 keys in a file come and go while the service runs', async (t) => {
  const path = join(t.testdir({}), 'keys');
  writeFileSync(path, '# callers\n\nann:old-key\n');
  const troubles: Error[] = [];
  const keys = new ApiKeys([{ name: 'bob', key: 'fixed' }]);
  keys.follow(path, (error) => troubles.push(error));
  t.equal(keys.identify(request('old-key')), 'ann');
  t.equal(keys.identify(request('fixed')), 'bob');

  writeFileSync(path, 'ann:old-key\nann:new:key\n');
  await eventually('the new key', () => {
    try {
      return keys.identify(request('new:key')) === 'ann';
    } catch {
      return false;
    }
  });
  t.equal(keys.identify(request('old-key')), 'ann', 'both work while callers change over');

  writeFileSync(path, 'ann:new:key\n');
  await eventually('the end of the old key', () => {
    try {
      keys.identify(request('old-key'));
      return false;
    } catch (error) {
      return (error as { code: string }).code === 'api_key_invalid';
    }
  });
  t.equal(keys.identify(request('fixed')), 'bob');
  t.same(troubles, []);
});

t.test(
  'AUTH-11 keys of a file that can be guessed are warned of, at the start and when it changes',
  async (t) => {
    const [good, weak] = ['g'.repeat(32), 'w'.repeat(31)];
    const path = join(t.testdir({ keys: `ann:${weak}\nbob:${good}\n` }), 'keys');
    const risks: string[] = [];
    const keys = new ApiKeys([]);
    keys.follow(
      path,
      () => {},
      (what) => risks.push(what),
    );
    const warning = (name: string) => `the API key of ${name} is shorter than 32 characters`;
    t.same(risks, [warning('ann')]);
    t.equal(keys.identify(request(weak)), 'ann', 'it holds all the same');
    t.same(risks, [warning('ann')], 'once');
    writeFileSync(path, `ann:${good}\ncid:x\n`);
    await eventually('the new ones', () => {
      try {
        return keys.identify(request('x')) === 'cid';
      } catch {
        return false;
      }
    });
    t.same(risks, [warning('ann'), warning('cid')]);
    t.notMatch(risks.join(), weak, 'no key is shown');
  },
);

t.test('AUTH-11 a file without keys opens nothing', async (t) => {
  const path = join(t.testdir({ keys: '# none yet\n' }), 'keys');
  const keys = new ApiKeys([]);
  t.notOk(keys.configured);
  keys.follow(path, () => {});
  t.ok(keys.configured);
  const local = { ip: '127.0.0.1', headers: { host: 'localhost' } } as unknown as FastifyRequest;
  await t.rejects(keys.requireCaller(local), { code: 'api_key_required', status: 401 });
});

t.test('AUTH-11 a file that cannot be used', async (t) => {
  const dir = t.testdir({ good: 'ann:key\n', bad: 'ann:key\nsecret-without-a-name\n' });
  let now = 0;
  const troubles: string[] = [];
  const open = (name: string) =>
    new KeyFile(
      join(dir, name),
      ({ message }) => troubles.push(message),
      () => now,
    );
  t.throws(() => open('absent'), { message: /cannot be read \(ENOENT\)/ });
  t.throws(() => open('bad'), { message: /^Line 2 of .* is not a name:key pair$/ });

  const file = open('good');
  const before = file.keys();
  t.same(before, [{ name: 'ann', key: 'key' }]);
  t.equal(file.keys(), before, 'unchanged, it is the same list');
  rmSync(join(dir, 'good'));
  now += 1_000;
  t.same(file.keys(), before, 'one that is gone takes no keys away');
  now += 1_000;
  t.same(file.keys(), before);
  t.equal(troubles.length, 1, 'it is told once');
  writeFileSync(join(dir, 'good'), 'broken');
  now += 1_000;
  t.same(file.keys(), before);
  t.equal(troubles.length, 2);
  t.notMatch(troubles.join(), /broken|secret-without/, 'what stands there is a secret');
  writeFileSync(join(dir, 'good'), 'bob:other\n');
  t.same(file.keys(), before, 'it is looked at once a second');
  now += 1_000;
  t.same(file.keys(), [{ name: 'bob', key: 'other' }]);
});

t.test('AUTH-11 a link that is changed over, as secrets are mounted', async (t) => {
  const dir = t.testdir({ one: 'ann:1\n', two: 'ann:2\n' });
  const link = join(dir, 'keys');
  symlinkSync(join(dir, 'one'), link);
  let now = 0;
  const file = new KeyFile(
    link,
    () => {},
    () => now,
  );
  symlinkSync(join(dir, 'two'), join(dir, 'next'));
  renameSync(join(dir, 'next'), link);
  now += 1_000;
  t.same(file.keys(), [{ name: 'ann', key: '2' }]);
});

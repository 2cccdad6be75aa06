import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { trimLogs } from '../../src/servers/child.js';

t.test('files that a server writes are cut when they are large, and the last part is kept', async (t) => {
  const dir = t.testdir();
  const sizes = { 'server.log': 1_000_001, 'own.log': 1_000_001, 'short.log': 10, 'other.log': 1_000_001 };
  for (const [name, size] of Object.entries(sizes)) writeFileSync(join(dir, name), 'x'.repeat(size));
  const logs = ['own.log', 'short.log', 'missing.log'];
  trimLogs({ name: 'server', dir, logs, log: pino({ level: 'silent' }) });
  const left = Object.keys(sizes).map((name) => statSync(join(dir, name)).size);
  t.same(left, [0, 0, 10, 1_000_001]);
  t.equal(readFileSync(join(dir, 'own.log.1'), 'utf8').length, 1_000_001);
  t.notOk(existsSync(join(dir, 'short.log.1')));
});

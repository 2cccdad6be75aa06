import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { attacks } from './attacks.js';

/** The rows of the table of attacks: what is tried, where it ends, and the tests that try it. */
const rows = readFileSync('docs/explanation/security.md', 'utf8')
  .split('\n## Attacks, and where they end\n')[1]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| attack '))
  .map((line) => line.slice(2, -2).split(' | '))
  .map(([attack = '', end = '', tests = '']) => ({
    attack,
    end,
    tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, test]) => test!),
  }));

t.test('HOSTILE-04 each attack that is written down has a test', async (t) => {
  t.ok(rows.length > 60, `${rows.length} attacks`);
  for (const { attack, end, tests } of rows) {
    t.ok(end.length > 0 && tests.length > 0, attack);
    for (const test of tests) t.ok(existsSync(test), `${attack.slice(0, 40)}: ${test}`);
  }
});

t.test('HOSTILE-04 what the stranger tries is written down', async (t) => {
  for (const { row } of attacks) {
    const found = rows.filter(({ attack }) => attack.startsWith(row));
    t.equal(found.length, 1, row);
    t.ok(found[0]?.tests.includes('test/hostile/agent.test.ts'), `${row}: by whom`);
  }
  const told = rows.filter(({ tests }) => tests.includes('test/hostile/agent.test.ts'));
  t.equal(told.length, attacks.length, 'and no more');
});

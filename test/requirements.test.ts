import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { areas, requirements } from './requirements/index.js';

const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
);
const text = files.map((name) => readFileSync(join('test', name), 'utf8')).join('\n');
const cited = new Set(text.match(/\b[A-Z][A-Z0-9]*-\d{2}\b/g));

t.test('every requirement is proven by a test that names it', async (t) => {
  for (const [id, sentence] of Object.entries(requirements)) t.ok(cited.has(id), `${id}: ${sentence}`);
});

t.test('every id that a test names is a requirement', async (t) => {
  const known = new Set(Object.keys(requirements));
  const areas = new Set([...known].map((id) => id.split('-')[0]));
  for (const id of cited) if (areas.has(id.split('-')[0])) t.ok(known.has(id), id);
});

t.test('no two areas say something under one id', async (t) => {
  const ids = areas.flatMap((area) => Object.keys(area));
  t.same(
    ids.filter((id, n) => ids.indexOf(id) !== n),
    [],
  );
});

import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { pages } from '../../scripts/reference/index.js';

t.test('REF-01 the pages that are made from the code', async (t) => {
  t.ok(Object.keys(pages).length >= 8);
  for (const [file, page] of Object.entries(pages)) {
    const made = (await page()).split('\n');
    const kept = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    const at = made.findIndex((line, index) => line !== kept[index]);
    t.equal(kept[at], made[at], `line ${at + 1} of ${file}; else: npm run docs:reference`);
    t.equal(kept.length, made.length, file);
    t.ok(made.length > 20, `${file} says something`);
  }
});

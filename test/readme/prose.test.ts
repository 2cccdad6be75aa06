import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryDirectory } from '../support/sql.js';

/** What the checker says, without what makes it fail. */
async function check(...files: string[]): Promise<string[]> {
  const [program, ...args] = ['npx', 'tsx', 'scripts/prose.mjs', ...files];
  const run = promisify(execFile)(program!, args);
  const said = await run.catch((error: { code: number; stderr: string }) => error);
  return said.stderr.split('\n').filter(Boolean);
}

t.test('README-06 what is wrong is found', async (t) => {
  const file = join(await temporaryDirectory(t), 'page.md');
  const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
  await writeFile(
    file,
    [
      '# Title that is behind',
      '',
      `One ${words(29)}. Two ${words(30)}.`,
      '',
      '| a | those of whom it is |',
      '|---|---|',
      '```',
      'of whom',
      '```',
      'This is `of whom` and nothing.',
      '',
    ].join('\n'),
  );
  t.same(
    (await check(file)).map((line) =>
      line
        .slice(file.length)
        .replace(/: "Two.*/, '')
        .replace(/(": ).*/, '$1'),
    ),
    [':3 31 words in a sentence, 30 at most', ':5 "of whom": '],
  );
});

t.test('README-06 nothing is wrong in the documents', async (t) => t.same(await check(), []));

import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { temporaryDirectory } from '../support/sql.js';

/** What the checker says, without what makes it fail. */
async function check(...files: string[]): Promise<string[]> {
  const [program, ...args] = [process.execPath, '--import', 'tsx', 'scripts/prose.mjs', ...files];
  const run = promisify(execFile)(program!, args);
  const said = await run.catch((error: { code: number; stderr: string }) => error);
  return said.stderr.split('\n').filter(Boolean);
}

const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

/** What the checker says of a file, without its path and what it quotes. */
async function saidOf(t: Test, name: string, lines: string[]): Promise<string[]> {
  const file = join(await temporaryDirectory(t), name);
  await writeFile(file, lines.join('\n'));
  return (await check(file)).map((line) =>
    line
      .slice(file.length)
      .replace(/: "Two.*/, '')
      .replace(/(": ).*/, '$1'),
  );
}

t.test('README-06 what is wrong in a document is found', async (t) => {
  const page = [
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
  ];
  t.same(await saidOf(t, 'page.md', page), [':3 31 words in a sentence, 30 at most', ':5 "of whom": ']);
});

t.test('README-06 what is wrong in comments is found, and nothing else is read', async (t) => {
  const source = [
    `// Two ${words(15)}`,
    `// ${words(15)}`,
    "const text = 'anew // anew';",
    'const pattern = /[/*] of whom/g, half = text.length / 2; // anew',
    `const template = \`\${[text].map((one) => \`// \${one} // anew \`)} // anew\`;`,
    '/**',
    ' * All is well.',
    ' *',
    ' * It is of whom, and not `anew`.',
    ' * @example',
    ' * const anew = 1;',
    ' */',
    'export function nothing(/* anew */): void {',
    '  // the end of it, all the',
    '  // same',
    '}',
  ];
  t.same(await saidOf(t, 'source.ts', source), [
    ':1 31 words in a sentence, 30 at most',
    ':4 "anew": ',
    ':9 "of whom": ',
    ':13 "anew": ',
    ':14 "all the same": ',
    // the texts come after the comments
    ':3 "anew": ',
    ':5 "anew": ',
    ':5 "anew": ',
  ]);
});

t.test('README-06 what is wrong in the texts of a source is found', async (t) => {
  const source = [
    "import { nothing } from 'a package that was made anew';",
    "throw new Error('The one of whom it is told');",
    "log.info(`the log of §{name} is made anew`, { of: 'anew' });",
    "const long = 'Two WORDS ' +",
    "  'WORDS.';",
    'const of = raw`it is made anew or so`;',
    "const sql = 'insert into things select all that is made anew from it';",
    "const markup = '<p>it was made anew by them</p>', pattern = 'made|anew|of whom it is';",
    'const rest = `§{[1].map((one) => `number §{one} is made anew`)} and so on`;',
  ].map((line) => line.replace('WORDS', words(15)).replaceAll('§', '$'));
  t.same(await saidOf(t, 'source.ts', source), [
    ':2 "of whom": ',
    ':3 "anew": ',
    ':3 "anew": ',
    ':4 31 words in a sentence, 30 at most',
    ':9 "anew": ',
  ]);
});

t.test('README-06 sentences in the order of another language are found', async (t) => {
  const page = [
    'Who asks twice within a minute is answered once.',
    '',
    'Of a full list the oldest mask goes.',
    '',
    'It compares the own port. It was not to be. It has them not.',
    '',
    'Look whether it came: it is still to come.',
    '',
    '| who may read it | Who asks. |',
    '|---|---|',
    '',
    'If you ask who waits for it, the answer is a list.',
    '',
  ];
  t.same(await saidOf(t, 'page.md', page), [
    ':1 "Who asks twice within a minute is answered once.": ',
    ':3 "Of a": ',
    ':5 "the own": ',
    ':5 "was not to be": ',
    ':5 "has them not": ',
    ':7 "is still to come": ',
    ':7 "Look whether": ',
  ]);
});

t.test('README-06 what is wrong in the comments of settings is found', async (t) => {
  const source = ['#!/bin/sh', '# All is well. It is made', '# anew.', 'NAME=anew # anew', '  # of whom'];
  t.same(await saidOf(t, 'settings.yml', source), [':2 "anew": ', ':5 "of whom": ']);
});

t.test('README-06 nothing is wrong in documents, comments and texts', async (t) => t.same(await check(), []));

t.test('README-06 what is wrong in the subjects of commits is found', async (t) => {
  const subjects = [
    'Show a line once',
    'Make it anew',
    'Show each line of every channel once, also after the end of the process that said it',
  ];
  const { status, stderr } = spawnSync('node', ['scripts/subjects.mjs'], {
    input: `${subjects.join('\n')}\n`,
    encoding: 'utf8',
  });
  t.equal(status, 1);
  t.same(stderr.trim().split('\n'), [
    'Make it anew: "anew": say "again"',
    `${subjects[2]}: 84 characters, 72 at most`,
  ]);
  t.equal(spawnSync('node', ['scripts/subjects.mjs'], { input: `${subjects[0]}\n` }).status, 0);
});

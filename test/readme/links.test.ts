import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';
import { documents } from '../../scripts/documents.js';

/** A document without what is code: links in there are examples. */
const proseOf = (file: string) =>
  readFileSync(file, 'utf8')
    .replace(/^```.*?^```$/gms, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));

/** The anchors of its headings, as GitHub makes them. */
const anchorsOf = (file: string) =>
  [
    ...readFileSync(file, 'utf8')
      .replace(/^```.*?^```$/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

t.test('README-03 the links of the documents', async (t) => {
  let seen = 0;
  for (const file of documents()) {
    for (const [, target = ''] of proseOf(file).matchAll(/\]\(<?([^)\s>]+)>?\)/g)) {
      if (/^([a-z]+:|\{)/.test(target)) continue;
      seen += 1;
      const [path = '', anchor] = target.split('#');
      const aim = path === '' ? file : normalize(join(dirname(file), path));
      if (!existsSync(aim)) t.fail(`${file}: ${target} is not there`);
      else if (anchor !== undefined)
        t.ok(anchorsOf(aim).includes(anchor), `${file}: ${target} has no heading`);
    }
  }
  t.ok(seen > 30, 'there are links');
});

t.test('README-03 the files that the README of a room names', async (t) => {
  const code = execFileSync(
    'git',
    ['ls-files', 'streams', 'projections', 'workers', 'src', 'test', 'bench'],
    {
      encoding: 'utf8',
    },
  ).split('\n');
  for (const file of documents().filter((name) =>
    /^(streams|projections|workers|src|test|bench)\/.*README\.md$/.test(name),
  )) {
    const room = dirname(file);
    const text = readFileSync(file, 'utf8').replace(/^```.*?^```$/gms, '');
    for (const [, name] of text.matchAll(/`([\w./-]+\.ts)`/g))
      t.ok(
        code.some((path) => path === name || (path.startsWith(`${room}/`) && path.endsWith(`/${name}`))),
        `${file}: ${name} exists`,
      );
  }
});

import { readFileSync } from 'node:fs';
import t from 'tap';
import { openApiDocument } from '../../src/openapi/document.js';
import { descriptions } from '../../src/openapi/index.js';

t.test('README-04 the front page is short', async (t) => {
  const lines = readFileSync('README.md', 'utf8').trimEnd().split('\n');
  t.ok(lines.length <= 150, `${lines.length} lines`);
  let rows = 0;
  for (const line of lines) {
    rows = line.startsWith('|') ? rows + 1 : 0;
    t.ok(rows <= 12, `a table has more than ten rows: ${line}`);
  }
});

t.test('README-05 one version', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const { info } = openApiDocument(descriptions, 'https://relay.example') as { info: { version: string } };
  const [, released] =
    /^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  t.equal(info.version, version, 'the version of the API');
  t.equal(released, version, 'the newest release of CHANGELOG.md');
});

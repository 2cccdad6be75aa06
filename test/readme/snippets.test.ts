import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { documents } from '../../scripts/documents.js';
import { readPaidChannels } from '../../src/config/paid-channels.js';
import { readModelsFile } from '../../src/operations/deliberation/models-file.js';
import { MarketEvent } from '../../streams/events/event.js';
import { temporaryDirectory } from '../support/sql.js';
import { type Block, blocksOf } from './blocks.js';

const files = ['README.md', 'CONTRIBUTING.md', ...documents('docs'), ...documents('examples')];
const blocks = files.flatMap(blocksOf);

/** Pages whose blocks have a test of their own, which runs them as they are written. */
const ofOnePage: Record<string, string> = {
  'docs/guides/client.md': 'test/client/package.test.ts',
  'docs/guides/deploy-behind-a-proxy.md': 'test/system/behind-proxies.test.ts',
  'docs/guides/identity.md': 'test/identity/levels.test.ts',
  'docs/guides/scale-out.md': 'test/servers/compose.test.ts',
  'docs/guides/upgrade.md': 'test/readme/unit.test.ts',
  'docs/reference/client.md': 'test/client/package.test.ts',
  'docs/reference/command-line.md': 'test/readme/reference.test.ts',
  'docs/reference/producers.md': 'test/discovery/producers.test.ts',
  'docs/tutorials/an-agent-on-the-network.md': 'test/readme/session.test.ts',
  'docs/tutorials/first-event.md': 'test/readme/session.test.ts',
  'docs/tutorials/operate-for-a-day.md': 'test/readme/session.test.ts',
  'examples/README.md': 'test/examples/examples.test.ts',
  'README.md': 'test/readme/session.test.ts',
};

/** Blocks that nobody can run: a file with rules, settings of an IRC server, and what a reader types into a client, or sees there. */
const texts = /^(Be kind|<module name="cgiirc">|\/msg mrserv ABILITIES |PRIVMSG #lobby :|<relay> )/;

/** Which test runs a block; `undefined` when none does. */
function testOf({ file, language, text }: Block): string | undefined {
  if (language === 'mermaid') return 'test/discovery/guide.test.ts';
  if (language === 'json') return 'test/readme/snippets.test.ts';
  if (ofOnePage[file]) return ofOnePage[file];
  if (file === 'CONTRIBUTING.md') return 'test/readme/snippets.test.ts';
  if (/^(?:\w+=\S+ )?bin\/relay /m.test(text)) return 'test/readme/guides.test.ts';
  return /\bcurl /.test(text) ? 'test/readme/examples.test.ts' : undefined;
}

t.test('README-02 each block of the documents has a test that runs it', async (t) => {
  for (const block of blocks) {
    const test = testOf(block);
    if (test === undefined) t.match(block.text, texts, `${block.file}, ${block.heading}: a test`);
    else t.ok(existsSync(test), test);
  }
});

t.test('README-02 the examples in JSON', async (t) => {
  const json = blocks.filter(({ language }) => language === 'json');
  for (const { file, heading, text } of json) {
    try {
      JSON.parse(text);
    } catch (error) {
      t.fail(`${file}, ${heading}: ${error}`);
    }
  }
  const of = (file: string) => json.find((block) => block.file === file)!.text;
  const channels = readPaidChannels(await fileOf(t, of('docs/guides/sell-a-channel.md')));
  t.match(channels, [{ name: '#alpha', amount: 100_000n }], 'paid channels as the service reads them');
  const models = readModelsFile(await fileOf(t, of('docs/guides/deliberation.md')));
  t.match(models, [{ id: 'small' }, { id: 'home', synthesizer: true }], 'models as the service reads them');
  t.match(MarketEvent.parse(JSON.parse(of('docs/reference/webhook.md'))), { event_id: 'evt-1' });
});

async function fileOf(t: Test, text: string): Promise<string> {
  const path = join(await temporaryDirectory(t), 'example.json');
  writeFileSync(path, text);
  return path;
}

t.test('README-02 the commands for contributors name what is there', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const commands = blocksOf('CONTRIBUTING.md').flatMap(({ text }) => text.trim().split('\n'));
  t.ok(commands.length > 12);
  for (const command of commands) {
    const [, script, file] = /\bnpm (?:run )?([\w:]+)|\bnpx tsx (\S+)/.exec(command) ?? [];
    t.ok(script === undefined ? existsSync(file ?? '') : script in scripts, command);
  }
  for (const [, path = ''] of commands.flatMap((line) => [...line.matchAll(/(test\/[\w/.-]+)/g)]))
    t.ok(existsSync(path), path);
});

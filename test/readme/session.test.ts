import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { startService } from '../support/service.js';
import { startArgs } from '../support/start-command.js';
import { aimedAt, blocksOf, shell } from './blocks.js';

t.test('README-01 the first session, command by command', async (t) => {
  const readme = blocksOf('README.md');
  t.equal(readme.find(({ heading }) => heading === 'Run it')?.text, 'npm start\n');
  t.equal(startArgs.at(-1), 'dist/src/main.js', 'which is what runs here');
  // without a secret in the settings, as in a new clone: the service makes one
  const service = await startService(t, {}, { EM_WEBHOOK_SECRET: '' });
  const env = { DATA_DIR: join(service.dir, 'data'), PORT: new URL(service.url).port };
  const blocks = readme.filter(({ heading }) => heading === 'A first session');
  const [publish, listChannels, readSigned, ask] = blocks.map(({ text }) => aimedAt(service.url, text));
  t.equal(blocks.length, 4);
  const run = async (text: string) => {
    const { code, out, err } = await shell(text, env);
    t.equal(code, 0, err);
    return out;
  };

  const line = '[NEW] a1b2c3d4 | Photograph the opening hours of the city library |';
  const published = await eventually(
    'the line to be shown and recorded',
    async () => {
      const out = await run(publish!);
      return out.includes('"text":"[NEW] a1b2c3d4') && out;
    },
    30_000,
  );
  t.match(published, /^accepted {2}cli-\S+\n {2}#bounties #city-lisbon /);
  const [message] = JSON.parse(published.slice(published.indexOf('\n[{') + 1)) as { text: string }[];
  t.ok(message!.text.startsWith(line), message!.text);

  t.match(await run(listChannels!), /'#bounties'.*Tasks as they are published/);
  const signed = await run(readSigned!);
  t.match(signed, /^0x[0-9a-fA-F]{40} reads \[/);
  t.ok(signed.includes(line), signed);
  t.match(JSON.parse(await run(ask!)), {
    result: { status: { state: 'completed' }, artifacts: [{ name: 'list-channels' }] },
  });
});

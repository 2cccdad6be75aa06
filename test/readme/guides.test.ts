import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import t from 'tap';
import { documents } from '../../scripts/documents.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startService } from '../support/service.js';
import { blocksOf, shell } from './blocks.js';

/** The `relay` commands of a page, without their remarks. */
const commandsOf = (file: string) =>
  blocksOf(file)
    .filter(({ language }) => language === '')
    .flatMap(({ text }) => text.split('\n'))
    .flatMap((line) => /^((?:\w+=\S+ )?bin\/relay .*?)(?: {2,}#.*)?$/.exec(line.trim())?.[1] ?? []);

/** Other tests run those of the tutorials, and one that does not end (`test/cli/log.test.ts`). */
const known = new Set([
  ...documents('docs/tutorials').flatMap(commandsOf),
  'bin/relay events MARKET --follow',
]);
const pages = [...documents('docs/guides'), ...documents('docs/reference')]
  .map((file) => ({ file, commands: commandsOf(file).filter((command) => !known.has(command)) }))
  .filter(({ file, commands }) => commands.length > 0 && !file.endsWith('command-line.md'));

/** Commands that are refused here: they name what only the reader's service has, or want something else first. */
const refused: Record<string, RegExp> = {
  'bin/relay dns': /PUBLIC_URL has no host name/,
  'bin/relay import --in log.jsonl': /Stop the service first/,
  'bin/relay incidents pardon 17 --reason "a quote"': /There is no incident 17/,
  'bin/relay incidents decline 17 --reason "no quote"': /There is no incident 17/,
  'bin/relay projections skip delivery_queue --stream MARKET --seq 120 --reason "a body that no version can read"':
    /delivery_queue has not halted at MARKET 120/,
  'bin/relay redeliver --from 120 --to 140 --dry-run': /no event was received from 120 to 140/,
  'bin/relay redeliver --from 120 --to 140': /nobody can be asked here/,
  'bin/relay replay delivery_queue --to 120 --query "select event_id, event_type from events limit 10"':
    /MARKET ends at 1: 120 has not come yet/,
};

t.test('README-02 the commands of the guides, run as they are written', { timeout: 280_000 }, async (t) => {
  const service = await startService(t, {}, { EM_WEBHOOK_SECRET: '' });
  const { dir, url } = service;
  const env = { DATA_DIR: join(dir, 'data'), PORT: new URL(url).port };
  const run = async (text: string) => await shell(text, env);

  // the event that the guides speak of is a dead letter
  const secrets = JSON.parse(readFileSync(join(dir, 'data/secrets.json'), 'utf8')) as Record<string, string>;
  const ircPort = Number(/irc:\/\/127\.0\.0\.1:(\d+)/.exec(service.log())![1]);
  const ann = await observe(ircPort, { nick: 'ann' });
  t.teardown(() => ann.stop());
  await ann.ask(
    `OPER ${secrets.irc_oper_name} ${secrets.irc_oper_password}`,
    'CBAN #cat-closed 1d :closed for now',
  );
  t.equal((await run('bin/relay emit task.published --id evt-1 --set category=closed')).code, 0);
  await eventually('a dead letter', async () =>
    / dead_letter /.test((await run('bin/relay dead-letters')).out),
  );

  const all = pages.flatMap(({ commands }) => commands);
  for (const command of Object.keys(refused)) t.ok(all.includes(command), `${command} is in a guide`);
  t.ok(all.length > 25, `there are ${all.length}`);

  const limit = pLimit(3);
  const play = async ({ commands }: (typeof pages)[number]) => {
    let id = '';
    if (commands.some((command) => command.includes('keys revoke'))) {
      const made = await run('bin/relay keys new --nick alice --json');
      id = (JSON.parse(made.out) as { id: string }).id;
    }
    for (const command of commands) {
      const { code, out, err } = await run(
        command.replace('log.jsonl', join(dir, 'log.jsonl')).replace('k3mf7q2xa4bc', id),
      );
      const wanted = refused[command];
      t.equal(code === 0, wanted === undefined, `${command}: ${out.slice(0, 300)} ${err.slice(0, 500)}`);
      if (wanted) t.match(err, wanted, command);
    }
  };
  await Promise.all(pages.map((page) => limit(play, page)));
});

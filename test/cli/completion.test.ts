import { spawnSync } from 'node:child_process';
import t from 'tap';
import { relay } from './terminal.js';

/** What bash offers for the last word of a command line. */
async function offered(line: string): Promise<string[]> {
  const { out } = await relay(['completion', 'bash']);
  const words = line.split(' ');
  const script = `${out}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _relay; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
  return stdout.split('\n').filter((word) => word !== '');
}

t.test('CLI-01 bash completes commands and options', async (t) => {
  t.same(await offered('relay proj'), ['projections']);
  t.same(await offered('relay projections re'), ['rebuild']);
  t.same(await offered('relay events MARKET --f'), ['--from', '--follow']);
  t.same(await offered('relay projections skip delivery_queue --re'), ['--reason']);
  t.same(await offered('relay projections list --u'), ['--url']);
  t.ok((await offered('relay ')).includes('doctor'));
  t.same(await offered('relay emit task.created --file '), [], 'the shell offers files');
  t.same(await offered('relay keys '), ['new', 'list', 'revoke', '--json', '--help']);
});

t.test('CLI-02 bash takes the whole script, and so would zsh', async (t) => {
  const bash = (await relay(['completion', 'bash'])).out;
  const { status, stderr } = spawnSync('bash', ['-n'], { input: bash, encoding: 'utf8' });
  t.same([status, stderr], [0, '']);
  t.match(
    (await relay(['completion', 'zsh'])).out,
    /^autoload -U \+X bashcompinit && bashcompinit\n_relay\(\) \{/,
  );
});

t.test('CLI-03 fish is told each command and option', async (t) => {
  const lines = (await relay(['completion', 'fish'])).out.split('\n');
  t.ok(
    lines.includes(
      "complete -c relay -n '__fish_use_subcommand' -a streams -d 'List the streams of the event log with their sizes'",
    ),
  );
  t.ok(lines.some((line) => /-n '__fish_seen_subcommand_from keys' -a new /.test(line)));
  t.ok(
    lines.some((line) => /seen_subcommand_from projections; and .*from skip' -l reason -r -F /.test(line)),
  );
});

t.test('CLI-04 there is no completion for other shells', async (t) => {
  t.match(await relay(['completion', 'tcsh']), {
    code: 2,
    err: /no completion for "tcsh": bash, zsh, fish\nusage: relay completion <shell>/,
  });
});

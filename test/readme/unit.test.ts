import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { projectDir } from '../../src/servers/binaries.js';
import { temporaryDirectory } from '../support/sql.js';
import { blocksOf } from './blocks.js';

const [unit] = blocksOf('docs/guides/upgrade.md').filter(({ language }) => language === 'ini');
const here = unit!.text.replaceAll('/opt/relay-network', projectDir).replace('User=relay', 'User=root');

t.test('README-02 the unit starts a command that there is', async (t) => {
  const [, program = '', command = ''] = /^ExecStart=(\S+) (\S+)$/m.exec(here) ?? [];
  const { status, stdout } = spawnSync(program, ['help', command], { encoding: 'utf8' });
  t.equal(status, 0);
  t.match(stdout, /relay start/);
});

const skip = spawnSync('systemd-analyze', ['--version']).status !== 0 && 'there is no systemd here';
t.test('README-02 systemd takes the unit as it is written', { skip }, async (t) => {
  const path = join(await temporaryDirectory(t), 'relay-network.service');
  writeFileSync(path, here);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.notMatch(stderr, 'relay-network.service');
});

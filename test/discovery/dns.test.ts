import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { relay } from '../cli/terminal.js';

const env = { PUBLIC_URL: 'https://api.relay.example' };

t.test('DNS-01 the records lead to the service', async (t) => {
  const { code, out } = await relay(['dns'], { env });
  t.equal(code, 0);
  t.same(out.trim().split('\n'), [
    '_index._agents.relay.example. 3600 IN SVCB 1 api.relay.example. alpn="h2,http/1.1" port=443',
    '_mcp._agents.relay.example. 3600 IN SVCB 1 api.relay.example. alpn="h2,http/1.1" port=443',
  ]);
  const machine = await relay(['dns', '--json', '--domain', 'Example.org.', '--ttl', '60'], {
    env: { PUBLIC_URL: 'http://relay.example:8100' },
  });
  t.match(JSON.parse(machine.out), {
    domain: 'example.org',
    ttl: 60,
    records: [
      { name: '_index._agents.example.org.', target: 'relay.example.', port: 8100, alpn: ['http/1.1'] },
      { name: '_mcp._agents.example.org.', target: 'relay.example.', port: 8100 },
    ],
  });
  t.match(
    (await relay(['dns'], { env: { PUBLIC_URL: 'https://relay.example' } })).out,
    '_mcp._agents.relay.example. ',
  );
});

t.test('DNS-02 what has no name cannot be found by one', async (t) => {
  for (const PUBLIC_URL of ['http://localhost:8100', 'http://127.0.0.1:8100', 'http://[::1]:8100']) {
    const { code, err, out } = await relay(['dns'], { env: { PUBLIC_URL } });
    t.equal(code, 1, PUBLIC_URL);
    t.match(err, /PUBLIC_URL has no host name/);
    t.equal(out, '');
  }
  for (const wrong of [
    ['--domain', 'no domain'],
    ['--domain', 'x'],
    ['--ttl', 'long'],
    ['--ttl', '2147483648'],
  ])
    t.equal((await relay(['dns', ...wrong], { env })).code, 2, wrong.join(' '));
});

const checker = [
  '/usr/bin/named-checkzone',
  '/usr/sbin/named-checkzone',
  process.env.NAMED_CHECKZONE ?? '',
].find((path) => path !== '' && existsSync(path));

t.test(
  'DNS-01 a name server takes the lines',
  { skip: checker ? false : 'named-checkzone (bind9-utils) is not installed' },
  async (t) => {
    const { out } = await relay(['dns'], { env });
    const zone = join(t.testdir({}), 'zone');
    const head =
      '$TTL 3600\n@ IN SOA ns.relay.example. admin.relay.example. 1 3600 600 86400 60\n@ IN NS ns.relay.example.\n';
    writeFileSync(zone, `${head}ns IN A 192.0.2.1\napi IN A 192.0.2.2\n${out}`);
    const checked = spawnSync(checker!, ['relay.example', zone], { encoding: 'utf8' });
    t.equal(checked.status, 0, checked.stdout + checked.stderr);
    t.match(checked.stdout, 'OK');
  },
);

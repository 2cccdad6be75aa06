import { readdir } from 'node:fs/promises';
import { pino } from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import type { Terminal } from '../../src/cli/core/terminal.js';
import { pardonOwn } from '../../src/cli/demo/agents.js';
import { findAnvil } from '../../src/cli/demo/chain.js';
import { IrcViewer, type ViewedLine } from '../../src/cli/demo/irc-viewer.js';
import { showPayments } from '../../src/cli/demo/payments.js';
import type { NoPayments } from '../../src/cli/demo/payments-setup.js';
import type { DemoTarget } from '../../src/cli/demo/target.js';
import { ServiceClient, serviceOf } from '../../src/cli/service/client.js';
import { readConfig } from '../../src/config/config.js';
import { startTurnstile } from '../payments/turnstile.js';
import { withoutAnope } from '../support/anope.js';
import { eventually } from '../support/eventually.js';
import { serveFacilitator } from '../support/facilitator.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { temporaryDirectory } from '../support/sql.js';
import { run, separateEnvironment } from './service-process.js';
import { relay } from './terminal.js';

async function leftIn(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((name) => !name.startsWith('tsx-')); // the loader's cache
}

t.test('NICKS-07 the demo on a service of its own', async (t) => {
  const temporary = t.testdir();
  // settings of a service in use must not count here
  const env = {
    TMPDIR: temporary,
    DATA_DIR: `${temporary}/elsewhere`,
    PORT: '0',
    NATS_URL: 'nats://127.0.0.1:1',
    ROLES: 'api',
  };
  const { code, out, err } = await run(t, ['src/cli.ts', 'demo', '--json'], env).ended();
  t.equal(code, 0, err);
  const { lines, channels, statistics, health, repeated, agents, payments } = JSON.parse(out[0]!);
  t.equal(out.length, 1, 'one document');
  const kinds = new Set((lines as ViewedLine[]).map(({ text }) => /^\[([A-Z ]+)\]/.exec(text)?.[1]));
  for (const kind of [
    'NEW',
    'ASSIGNED',
    'COMPLETED',
    'PAID',
    'RATING',
    'REJECTED',
    'DISPUTED',
    'CANCELLED',
    'EXPIRED',
  ]) {
    t.ok(kinds.has(kind), kind);
  }
  for (const kind of ['RELAY', 'HANDOFF', 'RELAY COMPLETE']) t.ok(kinds.has(kind), kind);
  t.ok(channels.includes('#city-sao-paulo'));
  t.match(statistics, { pending: 0, delivered_today: 17, dead_letter: 0 });
  t.match(health, { status: 'ok', services: { bridge: { irc: { connected: true } } } });
  t.match(repeated, { status: 'already_processed', delivery_status: 'delivered' });
  t.match(agents, {
    ...(withoutAnope
      ? { identity_bot: /identif/i, by_api_because: /anope/, link: { verified: 1, level: 0 } }
      : { identity_bot: /is linked with/, by_api_because: null, link: { verified: 1, level: 2 } }),
    // first the nick that the marketplace says was rated
    leaderboard: [
      { nick: 'scout-7', avg_score: 5 },
      { nick: /^scout-/, avg_score: 5 },
      { nick: /^courier-/ },
    ],
    withheld: /\[withheld: guardian\]/,
    moderation: { level: /^(WARN|MUTE)$/ },
    consensus: { status: 'validated', votes: 3 },
  });
  if (findAnvil()) {
    t.match(payments, {
      price: [{ network: 'eip155:8453', amount: '100000', extra: { name: 'USD Coin' } }],
      grant: { status: 'granted', channel: '#demo-lounge', durationSeconds: 600 },
      tx_hash: /^0x.{64}$/,
      balances: { payer: '0.9', recipient: '0.1' },
    });
  } else t.match(payments, { left_out: /anvil/ });
  t.same(await leftIn(temporary), [], 'nothing stays behind');
});

t.test('DEMO-01 DEMO-02 on a service that runs, the demo shows its own lines only', async (t) => {
  const env = await separateEnvironment(await temporaryDirectory(t));
  const app = await createApp(readConfig(env), pino({ level: 'silent' }));
  t.teardown(() => app.stop());
  const { code: emitted } = await relay(['emit', 'task.published', '--task', 'before00'], { env });
  t.equal(emitted, 0);
  const shown = await IrcViewer.connect(app.places.irc, 'earlier', () => {});
  t.teardown(() => shown.close());
  await shown.enter(['#bounties']);
  await eventually('the line to be history', () => shown.lines.some(({ text }) => text.includes('before00')));

  // the demo was told nothing of the IRC port: the service knows
  const { IRC_EMBEDDED_PORT: _, ...told } = env;
  const { code, out, err } = await relay(['demo'], {
    env: { ...told, DATA_DIR: t.testdir(), EM_WEBHOOK_SECRET: app.webhookSecrets[0]! },
  });
  t.equal(code, 0, err);
  t.match(out, `IRC  ${app.places.irc}`);
  t.notMatch(out, 'before00');
  t.match(out, /^left out: this service has no paid channels/m);
  t.match(out, /All of 17 events were seen/);
  const [, incident] = /^incident (\d+) is pardoned/m.exec(out) ?? [];
  const { api } = serviceOf({ config: () => readConfig(env), stop: new AbortController().signal });
  const { incidents } = await api.get('/ops/incidents', { params: { query: { limit: 10 } } });
  t.match(
    incidents.find(({ id }) => id === Number(incident)),
    { pardoned_at: String },
  );
});

t.test('DEMO-01 a demo that is no operator says what stays in force', async (t) => {
  const nats = await startNats(t);
  const settings = { NATS_URL: nats.url, ROLES: 'api', PORT: '0', API_KEYS: `ops:${'k'.repeat(32)}` };
  const env = { ...settings, DATA_DIR: await temporaryDirectory(t) };
  const app = await createApp(readConfig(env), pino({ level: 'silent' }));
  t.teardown(() => app.stop());
  const { api } = new ServiceClient({ url: app.address!, stop: new AbortController().signal });
  t.match(await pardonOwn(api, 7), /^incident 7 stays, .* "relay incidents pardon 7"$/);
});

t.test('DEMO-02 a service of its own has the IRC port that is set', async (t) => {
  const port = await freePort();
  const stop = new AbortController();
  const lines: string[] = [];
  const running = relay(['demo', '--own'], {
    env: { IRC_EMBEDDED_PORT: String(port) },
    stop: stop.signal,
    terminal: { out: (line) => void lines.push(line) },
  });
  await eventually('the target', () => lines.some((line) => line.startsWith('IRC  ')));
  stop.abort();
  t.match(await running, { code: 1 });
  t.ok(lines.includes(`IRC  irc://127.0.0.1:${port}`), lines.join('\n'));
});

t.test('DEMO-03 without a till nothing is paid, and the demo says why', async (t) => {
  const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];
  const facilitator = await serveFacilitator(t, async () => ({ status: 200, body: { kinds } }));
  const nats = await startNats(t);
  const show = async (facilitatorUrl: string, payments?: NoPayments) => {
    const { url } = await startTurnstile(t, { natsUrl: nats.url, facilitatorUrl });
    const service = new ServiceClient({ url, stop: new AbortController().signal });
    const lines: string[] = [];
    const target = { service, payments } as unknown as DemoTarget;
    const viewer = { nick: 'guest' } as IrcViewer;
    const result = await showPayments(target, viewer, {
      out: (line: string) => void lines.push(line),
    } as Terminal);
    return { result, text: lines.join('\n') };
  };
  const real = await show(facilitator.url);
  t.match(real.result, { price: [{ network: 'eip155:8453', amount: '100000' }], left_out: /real ones/ });
  t.match(real.text, /402: 0\.10 USDC for #alpha-test\n {2}100000 on eip155:8453 to 0x/);
  t.match(await show(''), { result: { left_out: /not configured/ } });
  const missing = await show('', { why: 'the package is not there', mend: 'npm install --include=dev' });
  t.match(missing, { text: 'left out: the package is not there. "npm install --include=dev" brings it' });
  t.notOk(facilitator.count('settle') + facilitator.count('verify'));
});

t.test('the demo as people see it, interrupted', async (t) => {
  const temporary = t.testdir();
  const program = run(t, ['src/cli.ts', 'demo', '--own'], { TMPDIR: temporary });
  await program.line((line) => /^\d\d:\d\d:\d\d {2}#bounties +\[NEW\] [0-9a-f]{8} \| /.test(line), 60_000);
  t.same(program.out.filter((line) => line.startsWith('== ')).slice(0, 2), [
    '== Stage',
    '== A task is published, taken, done, paid and rated',
  ]);
  program.child.kill('SIGINT');
  const { code, err } = await program.ended();
  t.equal(code, 1);
  t.match(err, /^relay: interrupted$/m);
  t.same(await leftIn(temporary), [], 'nothing stays behind');
});

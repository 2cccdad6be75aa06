import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey } from 'viem/accounts';
import { channelsFile, paidChannel, payTo, startPayments } from '../payments/stage.js';
import { aimedAt, blocksOf, shell } from '../readme/blocks.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startService, type TestService } from '../support/service.js';

const commands = blocksOf('examples/README.md').filter(({ language }) => language === '');
/** The command that the page has for an example. */
const commandOf = (file: string) => commands.find(({ text }) => text.includes(`examples/${file}`))!.text;

const ircPort = (service: TestService) => Number(/irc:\/\/127\.0\.0\.1:(\d+)/.exec(service.log())![1]);

/** Runs the command of an example as it is written, for this service. */
async function run(service: TestService, file: string, env: Record<string, string> = {}) {
  const text = commandOf(file).replaceAll('./data/', `${join(service.dir, 'data')}/`);
  return await shell(aimedAt(service.url, text), { RELAY_URL: service.url, ...env });
}

t.test('README-07 producers and agents', { timeout: 240_000 }, async (t) => {
  const service = await startService(t, {}, { EM_WEBHOOK_SECRET: '' });
  t.same(
    readdirSync('examples').filter((name) => !commands.some(({ text }) => text.includes(`examples/${name}`))),
    ['README.md'],
    'each has its command',
  );

  await t.test('producers', async (t) => {
    for (const [file, shown] of [
      ['producer.ts', 'Translate a menu | $12 USDC (base) | translation'],
      ['producer.py', 'Photograph a bridge | $20 USDC (base) | photography'],
    ] as const) {
      const { code, out, err } = await run(service, file);
      t.equal(code, 0, err);
      t.ok(out.startsWith('accepted ') && out.includes(shown), out);
      const wrong = aimedAt(service.url, commandOf(file).split('\n').at(1)!);
      const refused = await shell(wrong, { RELAY_URL: service.url, EM_WEBHOOK_SECRET: 'a-wrong-one' });
      t.not(refused.code, 0, 'a refusal ends it');
      t.match(refused.err, 'signature_invalid');
    }
  });

  await t.test('an agent by MCP', async (t) => {
    const listed = await eventually('both tasks to be recorded', async () => {
      const { code, out, err } = await run(service, 'agent-mcp.ts');
      t.equal(code, 0, err);
      return out.startsWith('2 open') && out;
    });
    t.match(listed, / {2}Translate a menu \| .* {2}Photograph a bridge \|/s);
  });

  await t.test('an agent without an IRC connection', async (t) => {
    const made = await fetch(`${service.url}/auth/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nick: 'echo-8', scopes: ['speak'] }),
    });
    const { key } = (await made.json()) as { key: string };
    const zoe = await observe(ircPort(service), { nick: 'zoe', channels: ['#lobby'] });
    t.teardown(() => zoe.stop());
    const agent = spawn('bash', ['-c', commandOf('agent-http.ts').replace('rak_...', key)], {
      env: { ...process.env, RELAY_URL: service.url },
      stdio: 'ignore',
      detached: true,
    });
    t.teardown(() => process.kill(-agent.pid!, 'SIGTERM'));
    await zoe.waitUntil(() => zoe.raw.some((line) => / :echo-8!\S+ JOIN /.test(line)), 'the agent');
    await zoe.ask('PRIVMSG #lobby :echo-8: hello', 'PRIVMSG #lobby :not to anybody');
    const answers = () => zoe.texts('#lobby').filter((text) => text.startsWith('zoe: '));
    await zoe.waitUntil(() => answers().length > 0, 'its answer');
    t.same(answers(), ['zoe: you said "hello"']);
  });

  await t.test('an agent on IRC', async (t) => {
    const ann = await observe(ircPort(service), { nick: 'ann' });
    t.teardown(() => ann.stop());
    await ann.join('#lobby');
    const agent = spawn('bash', ['-c', commandOf('agent-irc.ts')], {
      env: { ...process.env, IRC_PORT: String(ircPort(service)) },
      stdio: 'ignore',
      detached: true,
    });
    t.teardown(() => process.kill(-agent.pid!, 'SIGTERM'));
    await ann.waitUntil(() => ann.raw.some((line) => / :echo-7!\S+ JOIN /.test(line)), 'the agent');
    t.ok(
      (await ann.ask('WHOIS echo-7')).some((line) => / 335 ann echo-7 /.test(line)),
      'it is marked as a program',
    );
    const second = await run(service, 'agent-irc.ts', { IRC_PORT: String(ircPort(service)) });
    t.equal(second.code, 1, 'another one with its nick ends');
    t.match(second.err, /the nick is taken/);
    for (const time of [1, 2, 3, 4]) await ann.ask(`PRIVMSG #lobby :echo-7: hello ${time}`);
    await ann.ask('PRIVMSG #lobby :not to anybody');
    const answers = () => ann.texts('#lobby').filter((text) => text.startsWith('ann: '));
    await ann.waitUntil(() => answers().length === 3, 'its answers');
    t.same(
      answers(),
      [1, 2, 3].map((time) => `ann: you said "hello ${time}"`),
    );
  });
});

t.test('README-07 a client that pays', { skip: withoutChain, timeout: 240_000 }, async (t) => {
  const { chain, facilitator } = await startPayments(t);
  const service = await startService(
    t,
    {},
    {
      PAID_CHANNELS: await channelsFile(t, [paidChannel({ name: '#alpha' })]),
      X402_FACILITATOR_URL: facilitator.url,
      X402_PAY_TO: payTo,
    },
  );
  const ann = await observe(ircPort(service), { nick: 'ann' });
  t.teardown(() => ann.stop());
  const key = generatePrivateKey();
  const { address } = await chain.payer(1_000_000n, key);
  const paid = await eventually('the channel to be there', async () => {
    const { code, out, err } = await run(service, 'paying-client.ts', { WALLET_KEY: key });
    if (code !== 0) throw new Error(err);
    return out;
  });
  t.ok(paid.startsWith(`${address} paid: ann may be in #alpha until 20`), paid);
  await ann.waitUntil(() => ann.raw.some((line) => / :ann!\S+ JOIN \S*#alpha/.test(line)), 'her join');
  t.equal(await chain.balance(payTo), 100_000n, 'once');
});

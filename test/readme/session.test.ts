import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startService, type TestService } from '../support/service.js';
import { startArgs } from '../support/start-command.js';
import { aimedAt, type Block, blocksOf, shell } from './blocks.js';

const line = '[NEW] a1b2c3d4 | Photograph the opening hours of the city library |';

/** A service as in a new clone, which made its secret itself, and a shell in a folder that looks like the project's. */
async function newcomer(t: Test) {
  const service = await startService(t, {}, { EM_WEBHOOK_SECRET: '' });
  const run = async (text: string, env: Record<string, string> = {}) => {
    const { code, out, err } = await shell(aimed(service, text), { ...environmentOf(service), ...env });
    t.equal(code, 0, `${text}\n${err}`);
    return out;
  };
  return { service, run };
}

const environmentOf = ({ dir, url }: TestService) => ({
  DATA_DIR: join(dir, 'data'),
  PORT: new URL(url).port,
});

const ircPortOf = (service: TestService) => Number(/irc:\/\/127\.0\.0\.1:(\d+)/.exec(service.log())![1]);

/** The same commands, for this service and its folder. */
const aimed = ({ dir, url }: TestService, text: string) =>
  aimedAt(url, text).replaceAll(/(?<![\w/])(\.\/)?data\/(?=[a-z-]+\.)/g, `${join(dir, 'data')}/`);

/** Repeats commands until what they print has a text in it. */
const until = (wanted: string | RegExp, run: () => Promise<string>) =>
  eventually(`${wanted}`, async () => {
    const out = await run();
    return (typeof wanted === 'string' ? out.includes(wanted) : wanted.test(out)) && out;
  });

const commandsOf = (blocks: Block[]) => blocks.filter(({ language }) => language === '');

/** What is another one each time: ids and times. */
const masked = (text: string) =>
  text
    .replace(/cli-[0-9a-f-]{36}/g, 'cli-…')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z/g, '…')
    .replace(/"id":"\d+-\d+"/g, '"id":"…"')
    .trim();

/** What a reader without an IRC client types into `nc`, as the page has it. Answers with what the server says. */
async function typed(t: Test, port: number, lines: string[]) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.teardown(() => socket.destroy());
  let seen = '';
  socket.on('data', (chunk) => {
    seen += chunk;
    for (const [, token] of `${chunk}`.matchAll(/^PING (\S+)/gm)) socket.write(`PONG ${token}\n`);
  });
  for (const line of lines) {
    if (line.startsWith('JOIN')) await eventually('the welcome', async () => / 001 /.test(seen));
    socket.write(`${line}\n`);
  }
  return () => seen;
}

type Newcomer = Awaited<ReturnType<typeof newcomer>>;

async function firstSession(t: Test, { service, run }: Newcomer) {
  const readme = blocksOf('README.md');
  t.equal(readme.find(({ heading }) => heading === 'Run it')?.text, 'npm start\n');
  t.equal(startArgs.at(-1), 'dist/src/main.js', 'which is what runs here');
  const session = readme.filter(({ heading }) => heading === 'A first session');
  const [publish, read, listChannels, printOper, refuse, list, mend, doctor] = commandsOf(session).map(
    ({ text }) => text,
  );
  const [accepted, shown, row] = session
    .filter(({ language }) => language === 'text')
    .map(({ text }) => text);
  t.equal(commandsOf(session).length, 8);
  const page = readFileSync('README.md', 'utf8');
  const [, words = ''] = /run `nc 127\.0\.0\.1 6667` and type ([^.]+)\./.exec(page) ?? [];
  const seen = await typed(
    t,
    ircPortOf(service),
    [...words.matchAll(/`([^`]+)`/g)].map(([, line]) => line!),
  );
  await eventually('the channel', async () => / 366 ann #bounties /.test(seen()));
  const bob = await observe(ircPortOf(service), { nick: 'bob', channels: ['#bounties'] });
  t.teardown(() => bob.stop());

  t.equal(masked(await run(publish!)), masked(accepted!), 'what the page says that one sees');
  await bob.waitFor(({ nick, text }) => nick === 'em-bot' && text.startsWith(line));
  await eventually('the line without a client', async () => seen().includes(`#bounties :${line}`));
  t.equal(masked(await until(line, () => run(read!))), masked(shown!));
  t.match(await run(listChannels!), /'#bounties' +│ +\d/);

  const [close, open] = [...page.matchAll(/`\/quote ([^`]+)`/g)];
  await bob.ask((await run(printOper!)).replace('/oper', 'OPER').trim(), close![1]!);
  t.equal((await run(list!)).trim(), 'none', 'as the page says');
  t.match(await run(refuse!), '#cat-closed');
  const dead = await until(/for-a-closed-room .* dead_letter +3 /, () => run(list!));
  t.equal(masked(dead), masked(row!), 'the row that the page shows');
  await bob.ask(open![1]!);
  const [redrive, show] = mend!.trim().split('\n');
  t.match(await run(redrive!), '#cat-closed');
  await until(/^status +delivered$/m, () => run(show!));
  t.match(await run(doctor!), / 0 failed/);
  await bob.stop();
}

async function firstEvent(t: Test, { run }: Newcomer) {
  const blocks = blocksOf('docs/tutorials/first-event.md');
  const [post, follow, ask] = commandsOf(blocks).map(({ text }) => text);
  const stats = async () => JSON.parse(await run(ask!)) as { delivered_today: number };
  const before = (await stats()).delivered_today;
  t.match(JSON.parse(await run(post!)), {
    status: 'accepted',
    target_channels: ['#bounties', '#cat-translation'],
  });
  const shown = () => run("curl -s 'http://127.0.0.1:8100/irc/channels/bounties/messages'");
  await until('[NEW] c0ffee11 | Hello | $25 USDC (base) | translation | /claim c0ffee11', shown);
  t.match(JSON.parse(await run(post!)), { status: 'already_processed' });
  const followed = await run(follow!);
  const [, lines] = blocks.filter(({ language }) => language === 'irc').map(({ text }) => text);
  for (const text of lines!.trim().split('\n')) t.match(followed, text.replace(/^<em-bot> /, ''));
  await eventually('three more', async () => (await stats()).delivered_today === before + 3);
  t.equal((await shown()).split('[NEW] c0ffee11').length, 2, 'no second line');
}

async function agentOnTheNetwork(t: Test, { service, run }: Newcomer) {
  const all = blocksOf('docs/tutorials/an-agent-on-the-network.md');
  const blocks = commandsOf(all);
  const [read, readSigned, ask, makeWallet, sign, look, getKey, speak, skill] = blocks.map(
    ({ text }) => text,
  );
  t.equal(blocks.length, 9);
  t.match(await until('[NEW] ', () => run(read!)), /"name":"#bounties"/);
  const signed = await run(readSigned!);
  t.match(signed, /^0x[0-9a-fA-F]{40} reads \[/);
  t.match(signed, 'c0ffee11', 'the last line of the channel');
  t.match(JSON.parse(await run(ask!)), {
    result: { status: { state: 'completed' }, artifacts: [{ name: 'list-channels' }] },
  });

  // what a person types into an IRC client
  const alice = await observe(ircPortOf(service), { nick: 'alice' });
  t.teardown(() => alice.stop());
  const typeAll = async (text: string, values: Record<string, string> = {}) => {
    for (const typed of text.trim().split('\n')) {
      const [, command, aim, words = ''] = /^\/(join|msg) (\S+)(?: (.*))?$/.exec(typed)!;
      const said = words.replace(/<\w+>/, (name) => values[name]!);
      const from = alice.lines.length;
      await alice.ask(command === 'join' ? `JOIN ${aim}` : `PRIVMSG ${aim} :${said}`);
      if (said && !aim!.startsWith('#'))
        await alice.waitUntil(
          () => alice.lines.slice(from).some(({ nick }) => nick === aim),
          `an answer to ${typed}`,
        );
    }
  };
  const [hello, register, prove] = all.filter(({ language }) => language === 'irc').map(({ text }) => text);
  await typeAll(hello!);
  const said = () => run("curl -s 'http://127.0.0.1:8100/irc/channels/lobby/messages'");
  await until('Hello. I translate documents.', said);

  const [address = '', WALLET_KEY = ''] = (await run(`${makeWallet}echo "$WALLET_KEY"`)).trim().split('\n');
  await typeAll(register!, { '<address>': address });
  t.ok(
    alice.lines.some(({ nick, text }) => nick === 'mrserv' && /is linked with/.test(text)),
    'linked',
  );
  const asked = alice.lines.map(({ text }) => /svc:verify:alice:\S+$/.exec(text)?.[0]).find(Boolean);
  const signature = await run(sign!.replace(/svc:verify:[^']+/, asked!), { WALLET_KEY });
  await typeAll(prove!, { '<signature>': signature.trim() });
  t.match(JSON.parse(await run(look!)), { wallet_address: address, verified: 1, level: 2 });
  const AGENT_KEY = (await run(`${getKey}echo "$AGENT_KEY"`, { WALLET_KEY })).trim();
  t.match(AGENT_KEY, /^rak_/);
  await alice.stop();
  t.match(JSON.parse(await run(speak!, { AGENT_KEY })), { status: 'shown', nick: 'alice' });
  t.match(await run(skill!), /^---\nname: relay-network/);
}

async function dayOfAnOperator(t: Test, { service, run }: Newcomer) {
  const blocks = commandsOf(blocksOf('docs/tutorials/operate-for-a-day.md')).map(({ text }) => text);
  const [doctor, health, holds, close, publish, list, mend, ask, keep] = blocks;
  t.equal(blocks.length, 9);
  t.match(await run(doctor!), / 0 failed/);
  t.match(await run(health!), /"status":"ok"/);
  t.match(await run(holds!), /^MARKET .*^delivery_queue .*^deliver-to-irc /ms);

  // its own IRC server has a port of its own here
  await run(close!.replace('6667', String(ircPortOf(service))));
  t.match(await run(publish!), '#bounties #city-lisbon #cat-shut');
  const [listed, detail] = list!.trim().split('\n');
  t.match(await until('for-a-shut-room', () => run(listed!)), /dead_letter +3 /);
  t.match(await run(detail!), /^last_error +926 /m);
  const [open, redrive, show] = mend!.trim().split('\n');
  await run(open!);
  t.match(await run(redrive!), '#cat-shut');
  await until(/^status +delivered$/m, () => run(show!));
  t.match(await run(ask!), /for-a-shut-room +task\.published/);
  t.match(await run(keep!), /facts written/);
}

// a reader goes from the front page to the tutorials, on the service that the front page started
t.test('README-01 the front page and the tutorials, one after the other', { timeout: 400_000 }, async (t) => {
  const reader = await newcomer(t);
  await t.test('the first session', (t) => firstSession(t, reader));
  await t.test('the first event', (t) => firstEvent(t, reader));
  await t.test('an agent on the network', (t) => agentOnTheNetwork(t, reader));
  await t.test('a day of an operator', (t) => dayOfAnOperator(t, reader));
});

t.test('README-01 a tutorial without the front page before it', { timeout: 240_000 }, async (t) => {
  await dayOfAnOperator(t, await newcomer(t));
});

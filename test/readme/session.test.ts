import { readFileSync } from 'node:fs';
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
  const run = async (text: string) => {
    const { code, out, err } = await shell(aimed(service, text), environmentOf(service));
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
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(/"id":"\d+-\d+"/g, '"id":"…"')
    .trim();

t.test('README-01 the first session, command by command', async (t) => {
  const readme = blocksOf('README.md');
  t.equal(readme.find(({ heading }) => heading === 'Run it')?.text, 'npm start\n');
  t.equal(startArgs.at(-1), 'dist/src/main.js', 'which is what runs here');
  const { service, run } = await newcomer(t);
  const session = readme.filter(({ heading }) => heading === 'A first session');
  const [publish, read, listChannels, printOper, refuse, mend, doctor] = commandsOf(session).map(
    ({ text }) => text,
  );
  const [accepted, shown] = session.filter(({ language }) => language === 'text').map(({ text }) => text);
  t.equal(commandsOf(session).length, 7);
  const ann = await observe(ircPortOf(service), { nick: 'ann', channels: ['#bounties'] });
  t.teardown(() => ann.stop());

  t.equal(masked(await run(publish!)), masked(accepted!), 'what the page says that one sees');
  await ann.waitFor(({ nick, text }) => nick === 'em-bot' && text.startsWith(line));
  t.equal(masked(await until(line, () => run(read!))), masked(shown!));
  t.match(await run(listChannels!), /'#bounties' +│ +\d/);

  const [close, open] = [...readFileSync('README.md', 'utf8').matchAll(/`\/quote ([^`]+)`/g)];
  await ann.ask((await run(printOper!)).replace('/oper', 'OPER').trim(), close![1]!);
  const [emit, list] = refuse!.trim().split('\n');
  t.match(await run(emit!), '#cat-closed');
  await until(/for-a-closed-room .* dead_letter +3 /, () => run(list!));
  await ann.ask(open![1]!);
  const [redrive, show] = mend!.trim().split('\n');
  t.match(await run(redrive!), '#cat-closed');
  await until(/^status +delivered$/m, () => run(show!));
  t.match(await run(doctor!), / 0 failed/);
});

t.test('README-01 the first event', async (t) => {
  const { run } = await newcomer(t);
  const [post, follow, ask] = commandsOf(blocksOf('docs/tutorials/first-event.md')).map(({ text }) => text);
  t.match(JSON.parse(await run(post!)), {
    status: 'accepted',
    target_channels: ['#bounties', '#cat-translation'],
  });
  const shown = () => run("curl -s 'http://127.0.0.1:8100/irc/channels/bounties/messages'");
  await until('[NEW] c0ffee11 | Hello | $5 USDC (base) | translation | /claim c0ffee11', shown);
  t.match(JSON.parse(await run(post!)), { status: 'already_processed' });
  t.match(await run(follow!), /#task-c0ffee11/);
  await until('"delivered_today":3', () => run(ask!));
  t.equal((await shown()).split('[NEW] c0ffee11').length, 2, 'no second line');
});

t.test('README-01 an agent on the network', async (t) => {
  const { service, run } = await newcomer(t);
  await run('npm run --silent relay -- emit task.published --task a1b2c3d4');
  const blocks = commandsOf(blocksOf('docs/tutorials/an-agent-on-the-network.md'));
  const [read, readSigned, ask, skill] = blocks.map(({ text }) => text);
  t.equal(blocks.length, 4);
  t.match(await until(line, () => run(read!)), /"name":"#bounties"/);
  const signed = await run(readSigned!);
  t.match(signed, /^0x[0-9a-fA-F]{40} reads \[/);
  t.ok(signed.includes(line), signed);
  t.match(JSON.parse(await run(ask!)), {
    result: { status: { state: 'completed' }, artifacts: [{ name: 'list-channels' }] },
  });
  t.match(await run(skill!), /^---\nname: relay-network/);

  // what a person types into an IRC client
  const typed = blocksOf('docs/tutorials/an-agent-on-the-network.md')
    .filter(({ language }) => language === 'irc')
    .flatMap(({ text }) => text.trim().split('\n'));
  const alice = await observe(ircPortOf(service), { nick: 'alice' });
  t.teardown(() => alice.stop());
  for (const text of typed) {
    const [, command, aim, words = ''] = /^\/(join|msg) (\S+)(?: (.*))?$/.exec(text)!;
    await alice.ask(command === 'join' ? `JOIN ${aim}` : `PRIVMSG ${aim} :${words}`);
    if (!words) continue;
    const answer = { '#lobby': undefined, NickServ: /registered/i, mrserv: /is linked with/ }[aim!];
    if (answer) await alice.waitFor(({ nick, text }) => nick === aim && answer.test(text));
  }
  const said = () => run("curl -s 'http://127.0.0.1:8100/irc/channels/lobby/messages'");
  await until('Hello. I translate documents.', said);
});

t.test('README-01 a day of an operator', { timeout: 240_000 }, async (t) => {
  const { service, run } = await newcomer(t);
  const blocks = commandsOf(blocksOf('docs/tutorials/operate-for-a-day.md')).map(({ text }) => text);
  const [doctor, health, holds, close, publish, list, mend, ask, keep] = blocks;
  t.equal(blocks.length, 9);
  t.match(await run(doctor!), / 0 failed/);
  t.match(await run(health!), /"status":"ok"/);
  t.match(await run(holds!), /^MARKET .*^delivery_queue .*^deliver-to-irc /ms);

  // its own IRC server has a port of its own here
  await run(close!.replace('6667', String(ircPortOf(service))));
  t.match(await run(publish!), '#bounties #city-lisbon #cat-closed');
  const [listed, detail] = list!.trim().split('\n');
  t.match(await until('for-a-closed-room', () => run(listed!)), /dead_letter +3 /);
  t.match(await run(detail!), /^last_error +926 /m);
  const [open, redrive, show] = mend!.trim().split('\n');
  await run(open!);
  t.match(await run(redrive!), '#cat-closed');
  await until(/^status +delivered$/m, () => run(show!));
  t.match(await run(ask!), /for-a-closed-room +task\.published/);
  t.match(await run(keep!), /facts written/);
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import t, { type Test } from 'tap';
import { ircChecks } from '../../src/cli/doctor/irc.js';
import { botNicks } from '../../src/config/bot-nicks.js';
import { readConfig } from '../../src/config/config.js';
import { anopeConfig } from '../../src/servers/anope-config.js';
import { findAnope } from '../../src/servers/binaries.js';
import { recordedRun } from '../../src/servers/child.js';
import { inspircdAnswers } from '../../src/servers/inspircd.js';
import { endProcess, findRun, identify, isAlive } from '../../src/servers/process.js';
import { diagnose } from '../cli/diagnosis.js';
import { identify as login, register, withoutAnope } from '../support/anope.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startHolder } from './holder.js';
import { ownNetwork } from './own-network.js';

// each on servers of its own, and most of it is waiting
t.jobs = 3;

// each test has options of its own: tap keeps in them what a test said that ran with others
const skip = withoutAnope;

type Network = Awaited<ReturnType<typeof ownNetwork>>;

async function open(t: Test, dataDir: string, over: Parameters<typeof ownNetwork>[1] = {}): Promise<Network> {
  const network = await ownNetwork(dataDir, over);
  t.teardown(() => network.stop());
  return network;
}

/** A client that the server does not slow down. */
async function person(t: Test, { port, generated }: Network, nick: string): Promise<Observer> {
  const one = await observe(port, { nick, password: generated.ircServerPassword, reconnect: false });
  t.teardown(() => one.stop());
  return one;
}

/** Says something to the nick service. Answers its first notice that matches. */
async function tell(from: Observer, text: string, expected: RegExp): Promise<string> {
  const before = from.raw.length;
  from.send(`PRIVMSG NickServ :${text}`);
  const isAnswer = (line: string) => / NOTICE /.test(line) && expected.test(line);
  await from.waitUntil(() => from.raw.slice(before).some(isAnswer), `${expected} to ${text}`);
  return from.raw.slice(before).find(isAnswer)!;
}

const none = () => findAnope(['no-such-anope']);
const serviceOf = (dataDir: string) =>
  findRun(findAnope().path, `--confdir=${join(dataDir, 'nickserv', 'conf')}`);

t.test(
  'NICKS-01 NICKS-02 nobody waits for it, and nicks are their owners’ after a restart',
  { skip },
  async (t) => {
    const dataDir = t.testdir();
    const first = await open(t, dataDir);
    const alice = await person(t, first, 'alice');
    t.match(await alice.ask('PRIVMSG NickServ :HELP'), [/ 401 /], 'the network is there before it');
    const service = await first.nickService!.started;
    t.notOk(service!.adopted);
    t.ok(existsSync(join(dataDir, 'nickserv', 'anope.pid')), 'its files are in its own folder');
    await register(alice, 'alices-own');
    t.match((await alice.ask('WHOIS alice')).join('\n'), / 330 alice alice alice :/);
    await first.stop();
    t.equal(serviceOf(dataDir), undefined);
    t.notOk(existsSync(join(dataDir, 'nickserv', 'anope.json')));

    const second = await open(t, dataDir);
    await second.nickService!.started;
    const again = await person(t, second, 'alice');
    await tell(again, 'STATUS alice', /STATUS alice 1/);
    await login(again, 'alice', 'alices-own');
    t.notMatch(readFileSync(join(dataDir, 'nickserv', 'db', 'anope.db'), 'utf8'), 'alices-own');

    t.match(
      (await diagnose(ircChecks, { DATA_DIR: dataDir }))['irc.nick-service'],
      { status: 'ok' },
      'NICKS-06',
    );

    t.test('NICKS-04 who guesses passwords, and nicks that are kept', async (t) => {
      const [ann, mallory] = [await person(t, second, 'ann'), await person(t, second, 'mallory')];
      await register(ann, 'anns-own');
      for (const nick of [...botNicks(readConfig({})), 'NickServ', 'nickserv'])
        t.match((await mallory.ask(`NICK ${nick}`)).join('\n'), / 432 mallory \S+ :.*Kept for/, nick);
      for (let n = 0; n < 4; n++) await tell(mallory, `IDENTIFY ann guess-${n}`, /Password incorrect/);
      mallory.send('PRIVMSG NickServ :IDENTIFY ann guess-4');
      await mallory.waitUntil(() => mallory.raw.some((line) => /ERROR .*Too many invalid/.test(line)));
    });

    t.test('NICKS-05 channels stay as they are', async (t) => {
      const { ircOperName, ircOperPassword } = second.generated;
      const [bot, eve] = [await person(t, second, 'a-bot'), await person(t, second, 'eve')];
      const service = (await second.nickService!.started)!;
      await register(eve, 'eves-own');
      const restarted = new Promise((resolve) => service.onRestarted(resolve));
      await endProcess(identify(service.pid)!, 5_000);
      await bot.ask(`OPER ${ircOperName} ${ircOperPassword}`, 'JOIN #kept', 'SAMODE #kept +Pntkl secret 9');
      await eve.ask('JOIN #kept secret', 'JOIN #bounties,#lobby');
      const ofAll = ['MODE #kept', 'MODE #bounties', 'MODE #lobby', 'NAMES #kept', 'TOPIC #bounties'];
      const state = async () =>
        (await bot.ask(...ofAll)).flatMap((line) => / (3\d\d a-bot .*)/.exec(line)?.[1] ?? []);
      const before = await state();
      t.match(before[0], /^324 a-bot #kept :?\+\w*P/);
      const from = eve.raw.length;
      await restarted;
      await tell(eve, 'STATUS', /STATUS eve \d/);
      t.same(await state(), before);
      const seen = eve.raw.slice(from).filter((line) => /(MODE|TOPIC|KICK|JOIN|PART) #/.test(line));
      t.same(seen, [], 'and nobody in them saw anything');
    });
  },
);

t.test('NICKS-03 what a killed service left running is kept, supervised and stopped', { skip }, async (t) => {
  const dataDir = t.testdir();
  const holder = await startHolder(t, 'nick service', dataDir);
  const server = recordedRun(join(dataDir, 'irc'), 'inspircd')!;
  await holder.kill();
  const left = identify(holder.pid)!;
  t.ok(left, 'it outlives its service');
  const network = await open(t, dataDir);
  const service = (await network.nickService!.started)!;
  t.ok(service.adopted);
  t.equal(service.pid, holder.pid);
  t.ok(isAlive(server), 'and so does the server, on the same ports');

  t.test('when it is killed it comes back', async (t) => {
    const restarted = new Promise((resolve) => service.onRestarted(resolve));
    process.kill(service.pid, 'SIGKILL');
    await restarted;
    t.not(service.pid, holder.pid);
    await tell(await person(t, network, 'bob'), 'STATUS', /STATUS bob 0/);
  });

  t.test('when the server is killed it links itself again', async (t) => {
    const { pid } = service;
    await endProcess(recordedRun(join(dataDir, 'irc'), 'inspircd')!, 5_000);
    await eventually('the server', () => inspircdAnswers(network.port));
    const carl = await person(t, network, 'carl');
    await eventually('the nick service', async () =>
      (await carl.ask('ISON NickServ')).some((line) => / :NickServ/.test(line)),
    );
    t.equal(service.pid, pid, 'the same one');
  });

  t.test('when the service stops it stops too', async (t) => {
    await network.stop();
    t.equal(serviceOf(dataDir), undefined);
  });
});

t.test('NICKS-03 one that stands still is replaced', { skip }, async (t) => {
  const dataDir = t.testdir();
  const holder = await startHolder(t, 'nick service', dataDir);
  await holder.kill();
  const frozen = identify(holder.pid)!;
  process.kill(frozen.pid, 'SIGSTOP');
  const network = await open(t, dataDir);
  const service = (await network.nickService!.started)!;
  t.notOk(isAlive(frozen));
  t.notOk(service.adopted);
  await tell(await person(t, network, 'dora'), 'STATUS', /STATUS dora 0/);
});

t.test('NICKS-03 a stop while it starts leaves nothing behind', { skip }, async (t) => {
  const dataDir = t.testdir();
  const network = await open(t, dataDir);
  await eventually('its process', () => serviceOf(dataDir));
  await network.stop();
  t.equal(await network.nickService!.started, undefined);
  t.equal(serviceOf(dataDir), undefined);
});

t.test('NICKS-02 without Anope', async (t) => {
  const logged: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const dataDir = t.testdir();
  const network = await open(t, dataDir, { anope: none, log });
  t.equal(network.nickService, undefined);
  const warnings = logged.filter(({ level }) => level >= 40);
  t.match(warnings, [{ msg: /^no nick service: .*LINK is refused there: .*run scripts\/setup/ }]);
  t.equal(warnings.length, 1);
  t.notMatch(readFileSync(join(dataDir, 'irc', 'inspircd.conf'), 'utf8'), 'type="servers"');
  const found = await diagnose(ircChecks, { DATA_DIR: dataDir }, { findAnope: none });
  const mend = /run scripts\/setup/;
  t.match(found['irc.nick-service'], { status: 'warn', what: /LINK is refused/, mend }, 'NICKS-06');
  const fay = await person(t, network, 'fay');
  t.match((await fay.ask('NICK NickServ')).join('\n'), / 432 /, 'and nobody poses as it');
});

t.test(
  'NICKS-09 accounts are registered one by one, by who has been there for a while',
  { skip },
  async (t) => {
    const network = await open(t, t.testdir(), { registerAfter: '3600' });
    await network.nickService!.started;
    const clones = await Promise.all(['jo1', 'jo2', 'jo3'].map((nick) => person(t, network, nick)));
    for (const clone of clones)
      await tell(clone, 'REGISTER a-password', /for at least 3600 seconds to register/);
    const [one] = clones as [Observer];
    await one.ask('NICK jo4');
    await tell(one, 'REGISTER a-password', /for at least 3600 seconds/);
    for (const nick of ['jo1', 'jo2', 'jo3', 'jo4']) await tell(one, `INFO ${nick}`, /isn't registered/);
  },
);

t.test('what the configuration says names no other folder, and its password once', async (t) => {
  const text = anopeConfig({ port: 7000, password: 'the-password' }, '/where/data/is', {
    registerAfterSeconds: 30,
  });
  t.equal(text.split('the-password').length, 2);
  t.same(text.match(/"\/[^"]*"/g), ['"/where/data/is/anope.pid"', '"/where/data/is/motd.txt"']);
  t.equal(text.match(/\{/g)!.length, text.match(/\}/g)!.length);
});

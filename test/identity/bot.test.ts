import t from 'tap';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { startIrcd } from '../support/ircd.js';
import { botStage, notices } from './bot-stage.js';
import { newWallet } from './stage.js';

const skip = { skip: withoutAnope };

t.test('the identity bot on a network with a nick service', skip, async (t) => {
  const network = await startAccountNetwork(t);
  const stage = await botStage(t, network.ircd);
  const { say, ask } = stage;
  const [alice, bob] = await Promise.all([stage.person('Alice'), stage.person('bob')]);
  const wallet = newWallet();

  t.test('IDENT-12 who is not identified links and unlinks nothing', async (t) => {
    t.match(await say(alice, `LINK ${wallet.address}`), /identify with it first/);
    t.equal((await ask('GET', '/identity/by-nick/alice')).status, 404);
    await ask('POST', '/identity/link', { nick: 'bob', wallet_address: newWallet().address });
    t.match(await say(bob, 'UNLINK'), /identify with it first/);
    t.equal((await ask('GET', '/identity/by-nick/bob')).status, 200);
  });

  t.test('IDENT-10 IDENT-11 from nothing to level 2', async (t) => {
    await network.register(alice, 'alices-own');
    t.equal(await say(alice, 'WHOAMI'), 'Alice: no wallet linked, level 0 (anonymous)');
    t.equal(await say(alice, 'VERIFY'), 'No wallet linked: LINK <address> links one');
    t.match(
      await say(alice, `link ${wallet.address}`),
      /^Alice is linked with 0x\w+\. VERIFY proves the wallet$/,
    );
    t.match(
      await say(alice, 'WHOAMI'),
      /^Alice: 0x\w{40} since [\d-]{10}, not verified, level 1 \(linked\)$/,
    );
    t.match(await say(alice, `LINK ${wallet.address.toLowerCase()}`), /already$/);
    t.match((await ask('GET', '/identity/by-nick/alice')).body, { level: 1, verified: 0 });
    const [challenge = ''] = /svc:verify:alice:\d{10}:[0-9a-f]{6}$/.exec(await say(alice, 'VERIFY')) ?? [];
    const signature = await wallet.signMessage({ message: challenge });
    t.equal(await say(alice, `VERIFY ${signature}`), `Alice is verified as ${wallet.address}`);
    t.match(await say(bob, 'INFO ALICE'), /^ALICE: 0x.*, verified, level 2 \(verified\)$/);
    t.match((await ask('GET', `/identity/by-wallet/${wallet.address}`)).body, {
      nick: 'alice',
      verified: 1,
      level: 2,
      agent_id: null,
    });
    t.match(await say(alice, 'VERIFY'), 'Identity already verified');
  });

  t.test('IDENT-10 a link that somebody else has made is nothing until the nick confirms it', async (t) => {
    const one = newWallet();
    const carl = await stage.person('carl');
    await ask('POST', '/identity/link', { nick: 'carl', wallet_address: one.address });
    const { body } = await ask('POST', '/identity/verify-challenge', { nick: 'carl' });
    const signature = await one.signMessage({ message: body.challenge });
    t.match(
      await say(carl, `VERIFY ${signature}`),
      /is verified as .*LINK 0x\w{40} confirms that the nick is yours$/,
    );
    t.match((await ask('GET', '/identity/by-nick/carl')).body, { verified: 1, level: 0 });
    await network.register(carl, 'carls-own');
    t.match(await say(carl, `LINK ${newWallet().address}`), 'Nick already linked', 'another wallet is none');
    t.match(await say(carl, `LINK ${one.address}`), /confirmed/);
    t.match((await ask('GET', '/identity/by-nick/carl')).body, { verified: 1, level: 2 });
  });

  t.test('IDENT-02 who only claims a wallet keeps its owner from nothing', async (t) => {
    const [thief, owner] = await Promise.all([stage.person('thief'), stage.person('owner')]);
    await network.register(thief, 'thiefs-own');
    await network.register(owner, 'owners-own');
    const one = newWallet();
    t.match(await say(thief, `LINK ${one.address}`), /^thief is linked with/);
    t.match(await say(owner, `LINK ${one.address}`), /^owner is linked with/);
    t.equal(
      (await ask('POST', '/identity/link', { nick: 'asked', wallet_address: one.address })).status,
      201,
    );
    const [challenge = ''] = /svc:verify:\S+$/.exec(await say(owner, 'VERIFY')) ?? [];
    await say(thief, 'VERIFY');
    const signature = await one.signMessage({ message: challenge });
    t.match(await say(owner, `VERIFY ${signature}`), `owner is verified as ${one.address}`);
    t.match((await ask('GET', `/identity/by-wallet/${one.address}`)).body, { nick: 'owner', level: 2 });
    t.match(await say(thief, 'WHOAMI'), /no wallet linked, level 0/);
    t.equal((await ask('GET', '/identity/by-nick/asked')).status, 404);
    t.equal(await say(thief, `LINK ${one.address}`), 'Wallet already linked');
    const answer = await ask('POST', '/identity/link', { nick: 'thief', wallet_address: one.address });
    t.match(answer, { status: 409, body: { code: 'wallet_linked' } });
  });

  t.test('IDENT-12 an account is not the nick that its user has taken', async (t) => {
    await network.register(bob, 'bobs-own');
    await bob.ask('NICK dora');
    t.match(await say(bob, `LINK ${newWallet().address}`), /identify with it first/);
    t.equal((await ask('GET', '/identity/by-nick/dora')).status, 404);
    await alice.ask('NICK Alice2');
    await bob.ask('NICK Alice');
    t.match(await say(bob, 'UNLINK'), /identify with it first/, 'who took the nick that was left');
    t.equal((await ask('GET', '/identity/by-nick/alice')).status, 200);
    await bob.ask('NICK bob');
    await alice.ask('NICK Alice');
  });

  t.test('IDENT-12 a nick that is taken right behind a login is not identified by it', async (t) => {
    for (let n = 0; n < 6; n++) {
      await bob.ask('PRIVMSG NickServ :LOGOUT');
      await bob.waitUntil(() => bob.raw.some((line) => / 901 /.test(line)), 'being logged out');
      await network.identify(bob, 'bob', 'bobs-own');
      bob.send(`NICK taken${n}`);
      t.match(await say(bob, `LINK ${newWallet().address}`), /identify with it first/, `time ${n + 1}`);
      await bob.ask('NICK bob');
    }
  });

  t.test('IDENT-12 another nick that is grouped under an account is not its name', async (t) => {
    const from = bob.raw.length;
    bob.send('NICK bobby', 'PRIVMSG NickServ :GROUP bob bobs-own');
    await bob.waitUntil(() => bob.raw.slice(from).some((line) => /MODE bobby :?\+r/.test(line)));
    t.match(await say(bob, `LINK ${newWallet().address}`), /identify with it first/);
    await bob.ask('NICK bob');
    t.match(await say(bob, 'INFO bobby'), /level 0/);
  });

  t.test('IDENT-05 an unlink by the nick itself', async (t) => {
    t.equal(await say(alice, 'UNLINK'), 'Alice is linked no more');
    t.equal((await ask('GET', '/identity/by-nick/alice')).status, 404);
    t.equal(await say(alice, 'UNLINK'), 'No wallet linked: LINK <address> links one');
    t.match(await say(bob, `LINK ${wallet.address}`), 'Nick already linked');
    t.match(await say(alice, `LINK ${wallet.address}`), /is linked with/);
  });

  t.test('IDENT-13 three attempts in ten minutes, whatever happens in between', async (t) => {
    await say(alice, 'VERIFY');
    const wrong = await newWallet().signMessage({ message: 'anything' });
    for (let n = 1; n <= 3; n++)
      t.match(await say(alice, `VERIFY ${wrong}`), /does not match/, `attempt ${n}`);
    const tooMany = /^Too many attempts to verify: again in (9|10) min$/;
    t.match(await say(alice, `VERIFY ${wrong}`), tooMany);
    await stage.restart();
    t.match(await say(alice, `VERIFY ${wrong}`), tooMany, 'after a restart');
    await say(alice, 'UNLINK');
    await say(alice, `LINK ${wallet.address}`);
    t.match(await say(alice, `VERIFY ${wrong}`), tooMany, 'after an unlink');
    const { body } = await ask('POST', '/identity/verify-challenge', { nick: 'alice' });
    const signature = await wallet.signMessage({ message: body.challenge });
    const { status } = await ask('POST', '/identity/verify-signature', { nick: 'alice', signature });
    t.equal(status, 200, 'the API is apart');
  });

  t.test('IDENT-13 who wears the nick of another and fails does not lock its owner out', async (t) => {
    const gina = await stage.person('gina');
    await network.register(gina, 'ginas-own');
    const own = newWallet();
    await say(gina, `LINK ${own.address}`);
    const [challenge = ''] = /svc:verify:\S+$/.exec(await say(gina, 'VERIFY')) ?? [];
    await gina.ask('NICK gina2');
    const thief = await stage.person('gina');
    const wrong = await newWallet().signMessage({ message: challenge });
    for (let n = 1; n <= 3; n++) t.match(await say(thief, `VERIFY ${wrong}`), /does not match/);
    t.match(await say(thief, `VERIFY ${wrong}`), /^Too many attempts/);
    for (let n = 1; n <= 3; n++) await say(thief, 'VERIFY');
    t.match(await say(thief, 'VERIFY'), /^Too many attempts/);
    await thief.ask('NICK thief2');
    t.match(await say(thief, `VERIFY ${wrong}`), /^(Too many|No wallet)/);
    await gina.ask('NICK gina');
    t.match(await say(gina, 'VERIFY'), /svc:verify:gina/, 'the owner gets a challenge');
    t.match(await say(gina, `VERIFY ${await own.signMessage({ message: challenge })}`), /is verified as/);
  });

  t.test('IDENT-12 nobody is known while the nick service is away', async (t) => {
    await network.services.kill('SIGTERM');
    const eve = await stage.person('eve');
    t.match(await say(eve, `LINK ${newWallet().address}`), /identify with it first/);
    t.match(await say(bob, 'INFO alice'), /level 2/);
    t.match(await say(alice, 'UNLINK'), /linked no more/, 'who was identified before still is');
  });
});

t.test('the identity bot and people who try things', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await botStage(t, ircd);
  const { say } = stage;

  t.test('IDENT-11 IDENT-14 what is no command', async (t) => {
    const fay = await stage.person('fay');
    const list =
      'LINK <address> | VERIFY (a text to sign) | VERIFY <signature> | UNLINK | WHOAMI | INFO <nick> | ABILITIES <word>, <word> (what you can do) | ABILITIES CLEAR | HELP';
    t.equal(await say(fay, 'help'), list);
    t.equal(await say(fay, 'hello there'), `I do not know that command: ${list}`);
    t.match(await say(fay, 'constructor'), /do not know/);
    t.match(await say(fay, 'LINK'), /^LINK <address>/);
    t.match(await say(fay, 'VERIFY 0x12'), /^VERIFY <signature>/);
    t.match(await say(fay, 'INFO 1st'), /no nick/);
    t.match(await say(fay, `INFO ${'x'.repeat(300)}`), /no nick/);
    const gus = await stage.person('gus');
    gus.send(
      'PRIVMSG mrserv :\x01VERSION\x01',
      'NOTICE mrserv :HELP',
      'PRIVMSG mrserv :\x02WHOAMI\x02 é\u202e',
    );
    t.match(await say(gus, 'WHOAMI'), /do not know/, 'only the line of text was answered');
    await gus.waitUntil(() => notices(gus).length === 2, 'the answer to the last');
    for (const line of [...notices(fay), ...notices(gus)]) {
      t.ok(line.bytes <= 512 && line.validUtf8, line.text);
      t.notMatch(line.text, /[\x00-\x1f\x7f]/);
    }
  });

  t.test('IDENT-14 who writes too fast', async (t) => {
    const hal = await stage.person('hal');
    hal.send(...Array.from({ length: 80 }, () => 'PRIVMSG mrserv :HELP'));
    await hal.ask();
    await hal.waitUntil(() => notices(hal).some(({ text }) => /Not so fast/.test(text)));
    const ida = await stage.person('ida');
    t.match(await say(ida, 'WHOAMI'), /^ida/, 'others are served');
    await hal.ask();
    const texts = notices(hal).map(({ text }) => text);
    t.ok(texts.length < 80, `${texts.length} answers to 80 lines`);
    t.ok(texts.filter((text) => /Not so fast/.test(text)).length <= 3);
  });

  t.test('IDENT-25 health', async (t) => {
    const { body } = await stage.ask('GET', '/health');
    t.match(body.services.mrserv, {
      status: 'ok',
      irc: { connected: true, nick: 'mrserv' },
      stats: { links: 0, verified: 0 },
    });
  });
});

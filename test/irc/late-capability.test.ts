import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { startIrcd } from '../support/ircd.js';
import { credentials, startBot } from './bot.js';

t.test('a capability that is offered in the middle of a registration does not end it', async (t) => {
  const ircd = await startIrcd(t);
  let offers = 0;
  const proxy = createServer((client) => {
    const server = connect(ircd.port, '127.0.0.1');
    for (const socket of [client, server]) socket.on('error', () => {});
    server.pipe(client);
    client.on('data', (bytes) => {
      server.write(bytes);
      if (!bytes.toString().includes('CAP END')) return;
      offers += 1;
      client.write(':irc.test CAP * NEW :sasl=PLAIN\r\n');
    });
    client.on('close', () => server.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());

  const url = `irc://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const bot = startBot(t, { ...credentials(ircd), url });
  const session = await bot.session(1);
  t.ok(session.oper);
  t.same([offers, bot.lost], [1, []], 'at the first attempt');
});

/** A server, and a proxy before it that hides a capability from the first who connects. */
async function hidden(t: Test, capability: string) {
  const ircd = await startIrcd(t);
  const clients: Socket[] = [];
  const proxy = createServer((client) => {
    const isFirst = clients.push(client) === 1;
    const server = connect(ircd.port, '127.0.0.1');
    for (const socket of [client, server]) socket.on('error', () => {});
    const without = (bytes: Buffer) => bytes.toString().replace(` ${capability}`, '');
    server.on('data', (bytes) => client.write(isFirst ? without(bytes) : bytes));
    client.pipe(server);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  const url = `irc://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const bot = startBot(t, { ...credentials(ircd), url });
  const say = (at: number, text: string) => clients[at]!.write(`:irc.test CAP * ${text}\r\n`);
  return { bot, say };
}

t.test('labels that are offered later are taken, in a new session', async (t) => {
  const { bot, say } = await hidden(t, 'labeled-response');
  t.equal((await bot.session(1)).confirmation, 'fence');
  say(0, 'NEW :sasl=PLAIN');
  say(0, 'NEW :labeled-response');
  t.equal((await bot.session(2)).confirmation, 'labels');
});

t.test('account tags that are offered later, and taken away, are known in a new session', async (t) => {
  const { bot, say } = await hidden(t, 'account-tag');
  t.equal((await bot.session(1)).tagsAccounts, false);
  say(0, 'NEW :account-tag');
  t.equal((await bot.session(2)).tagsAccounts, true);
  say(1, 'DEL :account-tag');
  t.equal((await bot.session(3)).tagsAccounts, true);
  t.same(bot.lost, ['the server offers account tags', 'the server took account tags away']);
});

for (const [how, isOnce] of [
  ['once', true],
  ['again and again', false],
] as const)
  t.test(`capabilities that are refused ${how}`, async (t) => {
    const ircd = await startIrcd(t);
    const none = 'no-such-capability';
    let requests = 0;
    const proxy = createServer((client) => {
      const server = connect(ircd.port, '127.0.0.1');
      for (const socket of [client, server]) socket.on('error', () => {});
      // as if it was withdrawn between what the server told and what we requested
      client.on('data', (bytes) => {
        const text = bytes.toString();
        if (text.includes('CAP REQ')) requests += 1;
        server.write(isOnce && requests > 1 ? text : text.replace('labeled-response', none));
      });
      server.on('data', (bytes) => client.write(bytes.toString().replace(none, 'labeled-response')));
      client.on('close', () => server.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    t.teardown(() => proxy.close());

    const url = `irc://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const bot = startBot(t, { ...credentials(ircd), url });
    t.equal((await bot.session(1)).confirmation, isOnce ? 'labels' : 'fence');
    t.same([requests, bot.lost], [2, []], 'they are requested once more');
  });

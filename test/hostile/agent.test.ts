import { request } from 'node:http';
import { Readable } from 'node:stream';
import t from 'tap';
import { serviceNicks } from '../../src/config/service-nicks.js';
import { newWallet, publicUrl } from '../auth/stage.js';
import { askOf, environmentOf, operatorOn, untilKept } from '../channels/stage.js';
import { operator, operatorKey } from '../keys/stage.js';
import { channelsFile, paidChannel, payTo, startPayments } from '../payments/stage.js';
import { startAccountNetwork, withoutAnope } from '../support/anope.js';
import { postEvent, startApp } from '../support/app.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startNats } from '../support/nats.js';
import { showsRecorder } from '../support/recorder.js';
import { HostileAgent } from './agent.js';
import { type Around, attacks } from './attacks.js';

const bots = ['em-bot', 'relay', 'channelserv', 'mrserv'];
const secret = 'Opal-7731';

t.test(
  'HOSTILE-03 a stranger goes through all attacks',
  { skip: withoutAnope || withoutChain },
  async (t) => {
    const [nats, network, { facilitator }] = await Promise.all([
      startNats(t),
      startAccountNetwork(t, { reservedNicks: [...bots, ...serviceNicks] }),
      startPayments(t),
    ]);
    const { ircd, register } = network;
    const { url } = await startApp(t, {
      ...environmentOf({ nats, ircd }),
      API_KEYS: `ops:${operatorKey}`,
      PUBLIC_URL: publicUrl,
      // a proxy in front says who asks, so that the stranger is not a caller on this machine
      TRUST_PROXY: '127.0.0.1',
      ...{ RATE_LIMIT: '0', NONCE_RATE_LIMIT: '0', KEY_RATE_LIMIT: '0', NICK_RATE_LIMIT: '0' },
      X402_FACILITATOR_URL: facilitator.url,
      X402_PAY_TO: payTo,
      PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
    });
    await untilKept(url);
    const witness = await operatorOn(t, ircd);
    const isRecorded = async (room: string) => (await witness.ask(`NAMES ${room}`)).some(showsRecorder);
    const connect = async (nick: string, address: number) => {
      const host = `127.0.9.${address}`;
      const one = await observe(ircd.port, { nick, host, password: ircd.serverPassword, reconnect: false });
      t.teardown(() => one.stop());
      return one;
    };
    const event = async (event_type: string, payload: object) => {
      const id = `e-${Math.random().toString(36).slice(2)}`;
      const { status } = await postEvent(url, {
        ...{ event_id: id, event_type, source: 'marketplace' },
        payload: { ...payload },
      });
      if (status !== 202) throw new Error(`${event_type}: ${status}`);
    };
    const assigned = async (id: string, worker: string) =>
      await event('task.assigned', { id, title: secret, worker_nick: worker });

    // the others: an owner who is away, a worker who is there, an operator with a room of their own
    const alice = await connect('alice', 100);
    await register(alice, 'alice-password');
    await alice.stop();
    await eventually('the owner to be away', async () =>
      (await witness.ask('ISON alice')).some((line) => / 303 .* :\s*$/.test(line)),
    );
    const bob = await connect('bob', 101);
    await register(bob, 'bob-password');
    await assigned('away0001-1', 'alice');
    await assigned('secret02-1', 'bob');
    const room = '#task-secret02';
    await bob.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
    const says = async (channel: string, words: string) => {
      bob.send(`PRIVMSG ${channel} :${words}`);
      await eventually(`${words} to be recorded`, async () =>
        JSON.stringify(
          (await askOf(url, 'GET', `/irc/channels/${channel.slice(1)}/messages`, undefined, operator)).body,
        ).includes(words),
      );
    };
    await eventually('the room to be recorded', () => isRecorded(room));
    await says(room, `the code is ${secret}`);
    const den = { name: '#den', type: 'special', modes: '+int', invite_list: ['bob'] };
    await askOf(url, 'POST', '/channels', den, operator);
    await eventually('the den to be recorded', () => isRecorded('#den'));
    await says('#den', `in here it is ${secret}`);
    const { body: reported } = await askOf(
      url,
      'POST',
      '/sentinel/incidents',
      { title: 'A leak', severity: 'SEV-2', reporterNick: 'bob' },
      operator,
    );
    const { account } = newWallet();
    bob.send(`PRIVMSG mrserv :LINK ${account.address}`);
    await bob.waitFor(({ nick, text }) => nick === 'mrserv' && /0x/.test(text));
    const { body: pending } = await askOf(url, 'POST', '/identity/verify-challenge', { nick: 'bob' });
    const a2a = async (method: string, params: object) =>
      (await askOf(url, 'POST', '/a2a/v1', { jsonrpc: '2.0', id: 1, method, params })).body.result;
    const message = {
      kind: 'message',
      messageId: 'b-1',
      role: 'user',
      parts: [{ kind: 'text', text: 'hello' }],
    };
    const task = await a2a('message/send', { message });
    await eventually('the lobby to be recorded', () => isRecorded('#lobby'));

    const around: Around = {
      bots,
      incident: reported.id,
      paid: 'alpha-test',
      den: '#den',
      away: { nick: 'alice', room: '#task-away0001' },
      there: { nick: 'bob', room },
      assigns: async (name) => {
        await assigned(`${name.slice('#task-'.length)}-1`, 'bob');
        await bob.waitFor(({ channel, text }) => channel === name && text.includes('[ASSIGNED]'));
        await says(name, `the code of this one is ${secret}`);
      },
      opens: async (name) => {
        await askOf(url, 'PATCH', `/channels/${name.slice(1)}`, { modes: '-i' }, operator);
      },
      proves: async () => {
        const signature = await account.signMessage({ message: pending.challenge });
        const sent = { nick: 'bob', signature };
        return (await askOf(url, 'POST', '/identity/verify-signature', sent)).status === 200;
      },
      keepsTask: async () => (await a2a('tasks/get', { id: task.id }))?.id === task.id,
    };
    const agent = new HostileAgent({
      publicUrl,
      fetch: (path, init) => throughProxy(url, path, init),
      connect: (nick, address = 1) => connect(nick, address),
    });
    await agent.settle((user) => register(user, 'mallory-password'));

    for (const { row, run } of attacks) {
      t.same(await run(agent, around), [], row);
      const leaks = agent.all().filter((text) => text.includes(secret));
      t.same(leaks, [], 'and nothing private was heard');
    }
    t.comment(`${attacks.length} attacks, ${agent.all().length} answers`);
    t.ok((await fetch(`${url}/ready`)).ok, 'and the service is well');
  },
);

/** A request as a proxy in front passes it on: with the address that it comes from, and any Host. */
function throughProxy(url: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  const forwarded = [headers['x-forwarded-for'], '203.0.113.66'].filter(Boolean).join(', ');
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(url),
      {
        path,
        method: init.method ?? 'GET',
        headers: { host: new URL(publicUrl).host, ...headers, 'x-forwarded-for': forwarded },
        ...(init.signal ? { signal: init.signal } : {}),
      },
      (answer) => {
        const seen = new Headers();
        for (const [name, value] of Object.entries(answer.headers)) seen.set(name, String(value));
        const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
        const isEmpty = [204, 304].includes(answer.statusCode!);
        resolve(new Response(isEmpty ? null : body, { status: answer.statusCode!, headers: seen }));
      },
    );
    sent.on('error', reject);
    sent.end(init.body as string | undefined);
  });
}

import { connect } from 'node:net';
import pino from 'pino';
import t from 'tap';
import type { AgentCaller, Caller } from '../../src/operations/core/caller.js';
import { listInbox } from '../../src/operations/speech/inbox.js';
import type { Log } from '../../streams/core/index.js';
import {
  connectionSubject,
  type HeardText,
  inbox,
  inboxSubjects,
  lineSubject,
  lineToken,
  speech,
} from '../../streams/speech/index.js';
import { type Webhook, webhookSubject, webhooks } from '../../streams/webhooks/index.js';
import { consumerStatuses } from '../../workers/core/consumers.js';
import type { Dial } from '../../workers/irc/transport.js';
import {
  createGateway,
  type Gateway,
  personOf,
  type Speaker,
  type SpeakForAgents,
} from '../../workers/speech/index.js';
import { openLog } from '../identity/log.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { alice, hourMs, stage } from './stage.js';

t.jobs = 3; // they mostly wait: for registration, for silence

/** What reading an inbox works with, where nothing is withheld. */
const readingParts = (log: Log, gateway: Gateway) => {
  const never = () => false;
  const heard: HeardText = (_channel, text) => text;
  const lineOf = async () => null;
  const speech = { gateway, isOn: true, isKept: never, isService: never, heard, screen: String, lineOf };
  return { log, speech };
};

t.test('SPEAK-08 who comes after brings the agents back into their channels', async (t) => {
  const { witness, gateway } = await stage(t);
  const first = await gateway();
  await first.join({ ...alice, channel: '#lobby' });
  await first.connect({ nick: 'bob', by: 'ops' });
  await first.disconnect({ nick: 'bob', by: 'ops' });
  await first.end();
  await witness.waitUntil(() => witness.raw.some((line) => /:alice!\S+ QUIT/.test(line)));
  const from = witness.raw.length;
  const second = await gateway();
  await witness.waitUntil(() => witness.raw.slice(from).some((line) => /:alice!\S+ JOIN/.test(line)));
  t.match(await second.look(alice), { connected: true, channels: ['#lobby'] });
  t.match(await second.look({ nick: 'bob', by: 'ops' }), { connected: false }, 'not who had left');
});

t.test('SPEAK-30 who comes after knows which lines are answered', async (t) => {
  const { witness, log, gateway, say } = await stage(t);
  const first = await gateway();
  const line = await first.say(say('who has time?', 'k1'));
  const msgid = (line as { msgid: string }).msgid;
  await first.end();
  const from = witness.raw.length;
  await gateway();
  await witness.waitUntil(() => witness.raw.slice(from).some((raw) => /:alice!\S+ JOIN/.test(raw)));
  witness.send(`@+draft/reply=${msgid} PRIVMSG #lobby :me`);
  const heard = await eventually('the answer', async () => await log.last(inbox, inboxSubjects('alice').now));
  t.match(heard, { data: { is: 'mention', text: 'me', reply_to: msgid } });
});

t.test('AWAY-03 who comes after keeps agents away, and back', async (t) => {
  const { witness, gateway } = await stage(t);
  const first = await gateway();
  await first.join({ ...alice, channel: '#lobby' });
  const { away } = await first.away({ ...alice, message: 'Back at 9' });
  await first.end();
  await witness.waitUntil(() => witness.raw.some((line) => /:alice!\S+ QUIT/.test(line)));
  const from = witness.raw.length;
  const second = await gateway();
  await witness.waitUntil(() => witness.raw.slice(from).some((line) => /:alice!\S+ JOIN/.test(line)));
  t.same((await second.look(alice)).away, away);
  await witness.ask('WHOIS alice');
  t.ok(witness.raw.slice(from).some((line) => / 301 witness alice :Back at 9$/.test(line)));
  t.match(await second.away({ ...alice, message: null }), { connected: true, away: null });
  await second.end();
  const last = witness.raw.length;
  const third = await gateway();
  await witness.waitUntil(() => witness.raw.slice(last).some((line) => /:alice!\S+ JOIN/.test(line)));
  t.equal((await third.look(alice)).away, null);
});

t.test('SPEAK-09 a line that was perhaps heard is looked for before it is said again', async (t) => {
  const { ircd, log, witness, gateway, facts } = await stage(t);
  const line = (id: string, to: string) => ({
    type: 'line.requested' as const,
    data: { nick: 'alice', person: alice.person, id, to, text: `text of ${id}`, action: false },
  });
  // as a gateway leaves it that dies after a line: requested, said, and no end on record
  const before = await observe(ircd.port, { nick: 'alice', channels: ['#lobby'] });
  before.send('@+svc/event=heard PRIVMSG #lobby :text of heard');
  await witness.waitUntil(() => witness.texts('#lobby').includes('text of heard'));
  before.stop();
  await witness.waitUntil(() => witness.raw.some((line) => /:alice!\S+ QUIT/.test(line)));
  for (const [id, to] of [
    ['heard', '#lobby'],
    ['unheard', '#lobby'],
    ['alone', 'witness'],
  ] as const)
    await log.append(speech, lineSubject('alice', id), line(id, to), { by: 'test' });
  await gateway();
  const ends = await eventually('all ends', async () => {
    const found = await facts('speech.lines.>');
    const ends = found.filter(({ type }) => type !== 'line.requested');
    return ends.length === 3 && ends;
  });
  const byId = new Map(ends.map((fact) => [(fact.data as { id: string }).id, fact]));
  t.match(byId.get('heard'), { type: 'line.shown', data: { via: 'history' } });
  t.match(byId.get('unheard'), { type: 'line.shown', data: { via: 'echo' } });
  t.match(byId.get('alone'), { type: 'line.expired', data: { in_doubt: true } }, 'nothing tells of this one');
  await witness.ask();
  t.same(witness.texts('#lobby'), ['text of heard', 'text of unheard']);
});

t.test('SPEAK-09 SPEAK-10 cut off behind a line, and while the network is away', async (t) => {
  const { ircd, witness, gateway, say, facts } = await stage(t);
  const relay = await startTcpRelay(t, ircd.port);
  /** Asks under the same key until the line has come to its end. */
  const endOf = (of: SpeakForAgents, line: ReturnType<typeof say>) =>
    eventually(`the end of ${line.key}`, async () => {
      const end = await of.say(line);
      return end.is !== 'pending' && end;
    });
  const first = await gateway({ url: relay.url });
  t.match(await endOf(first, say('before', 'k1')), { is: 'shown' });
  relay.freeze();
  const frozen = await endOf(first, say('into the frozen connection', 'k2'));
  t.match(frozen, { is: 'shown' }, 'on a new connection, when the old one is found dead');
  relay.thaw();
  await witness.waitUntil(() => witness.texts('#lobby').length >= 2);
  await witness.ask();
  t.same(witness.texts('#lobby'), ['before', 'into the frozen connection'], 'once');

  await first.end();
  relay.refuse(true);
  const second = await gateway({ url: relay.url, ttlMs: 2_000 });
  // asked for while it takes over: it could have been in the hands of the first
  t.match(await endOf(second, say('nobody hears this', 'k0')), { is: 'expired' });
  const unheard = say('nobody hears it', 'k3');
  t.match(await endOf(second, unheard), { is: 'expired', in_doubt: false });
  t.match(await second.say(unheard), { is: 'expired', in_doubt: false }, 'and again under the same key');
  await eventually('its end on record', async () => {
    return (await facts(lineSubject('alice', lineToken('alice', 'k3')))).length === 2;
  });
  relay.refuse(false);
  let tries = 0;
  await eventually('a line to get through', async () => {
    const { is } = await endOf(second, say('here again', `again ${tries++}`));
    return is === 'shown';
  });
});

t.test(
  'SPEAK-09 a line in hand is not said after lines that another process has said meanwhile',
  async (t) => {
    const { nats, ircd, witness, gateway, say, facts } = await stage(t);
    const [toLog, toIrc] = await Promise.all([startTcpRelay(t, nats.port), startTcpRelay(t, ircd.port)]);
    let dials = 0;
    const dial: Dial = (to) => {
      dials += 1;
      return connect(to);
    };
    const first = await gateway({
      log: await openLog(t, { url: `nats://127.0.0.1:${toLog.port}` }),
      connection: { url: toIrc.url, dial },
    });
    await eventually('it to have the lines', async () => {
      const said = await first.say(say('first of all', 'k0'));
      return said.is !== 'pending';
    });
    const bob = { nick: 'bob', person: personOf('wallet 0xb'), by: 'agent:bob:1' };
    const told = (text: string) => ({ ...bob, to: 'witness', text, action: false, key: text });
    toIrc.refuse(true);
    dials = 0;
    const early = first.say(told('early')).catch(() => undefined);
    await eventually('the line to be in hand', () => dials > 0);
    toLog.refuse(true);
    toLog.cut();

    const second = await gateway();
    const end = async () => (await facts(lineSubject('bob', lineToken('bob', 'early'))))[1];
    t.match(await eventually('its end', end), { type: 'line.expired', data: { in_doubt: true } });
    t.match(await second.say(told('later')), { is: 'shown' });
    await second.end();
    toIrc.refuse(false);
    toLog.refuse(false);
    await early;
    await eventually('the first to speak again', async () => {
      const said = await first.say(told('last')).catch(() => undefined);
      return said?.is === 'shown';
    });
    await witness.ask();
    t.same(witness.texts('witness'), ['later', 'last']);
  },
);

t.test('SPEAK-08 who may have lost the lines takes no more of them in hand while it stops', async (t) => {
  const { nats, log, gateway, say } = await stage(t);
  const own = await openLog(t, nats);
  let isSure = true;
  const one = await gateway({
    log: own,
    connection: { url: 'irc://127.0.0.1:1', mayBegin: () => isSure },
  });
  // requests on another connection find it from here on
  await own.connection.flush();
  const asked = createGateway(log)
    .say(say('waits for the network', 'k1'))
    .catch(() => undefined);
  const statuses = () => consumerStatuses(log, [speech]);
  await eventually('a line in hand', async () => (await statuses())[0]?.unacknowledged === 1);
  isSure = false;
  const ended = one.end();
  await own.connection.flush();
  const { by, ...speaker } = alice;
  const data = { ...speaker, id: 'later', to: '#lobby', text: 'later', action: false };
  await log.append(speech, lineSubject('alice', 'later'), { type: 'line.requested', data }, { by });
  await ended;
  t.match(await statuses(), [{ worker: 'speak', pending: 1 }]);
  await asked;
});

t.test('SPEAK-11 there are so many agents at most', async (t) => {
  const { gateway } = await stage(t);
  const one = await gateway({ most: 1 });
  await one.connect(alice);
  await t.rejects(one.connect({ nick: 'carol', by: 'ops' }), { code: 'too_many_agents' });
  t.equal(one.count, 1);
});

t.test('SPEAK-11 who is silent for long leaves', async (t) => {
  const { gateway } = await stage(t);
  const one = await gateway({ idleMs: 1_500 });
  await one.connect(alice);
  await eventually('it to leave', async () => one.count === 0);
  t.match(await one.look(alice), { connected: false });
});

/** The webhook of a nick as it is at first. */
const registered = (nick: string): Webhook => ({
  nick,
  person: personOf(`wallet ${nick}`),
  by: `agent:${nick}:1`,
  url: 'https://alice.example/relay',
  wants: ['private'],
  secret_id: 'id',
  registered_at: '2026-01-01T00:00:00.000Z',
  after: 0,
  is: 'on',
  reason: null,
  failing_since: null,
  error: null,
});

t.test('SPEAK-32 who has a webhook stays while it is silent, as long as there is a place', async (t) => {
  const { gateway, log, witness } = await stage(t);
  const webhook = async (nick: string, change: Partial<Webhook> = {}) => {
    const data = { ...registered(nick), ...change };
    await log.append(webhooks, webhookSubject(nick), { type: 'webhook.registered', data }, { by: data.by });
  };
  const agent = (nick: string): Speaker => ({
    nick,
    person: personOf(`wallet ${nick}`),
    by: `agent:${nick}:1`,
  });
  const there = async (one: SpeakForAgents) => {
    const nicks = ['first', 'second', 'off', 'other', 'none'];
    const looked = await Promise.all(
      nicks.map(async (nick) => (await one.look(agent(nick))).connected && nick),
    );
    return looked.filter(Boolean).join();
  };
  await Promise.all([webhook('first'), webhook('second'), webhook('off', { is: 'off' })]);
  await webhook('other', { person: personOf('wallet before') });
  const one = await gateway({ most: 5, idleMs: 1_000, lookMs: 100, webhookMs: 100 });
  for (const nick of ['first', 'second', 'off', 'other', 'none']) await one.connect(agent(nick));
  await eventually('the others to leave', async () => one.count === 2);
  t.equal(await there(one), 'first,second');

  witness.send('PRIVMSG first :wake up');
  const heard = await eventually('it to hear', async () => await log.last(inbox, inboxSubjects('first').now));
  t.match(heard, { data: { is: 'private', text: 'wake up' } });

  await webhook('second', { is: 'removed' });
  await eventually('it to leave without a webhook', async () => one.count === 1);

  await webhook('second');
  for (const nick of ['second', 'third', 'fourth', 'fifth']) {
    await webhook(nick);
    await one.connect(agent(nick));
  }
  await eventually('a place to be free again', async () => one.count === 4);
  t.match(await one.look(agent('first')), { connected: false }, 'who was silent for longest left');
});

t.test(
  'SPEAK-31 who was silent for long comes back into its channels, also through another process',
  async (t) => {
    const { gateway } = await stage(t);
    const leaves = async (one: Awaited<ReturnType<typeof gateway>>) =>
      await eventually('it to leave', async () => one.count === 0);
    const isBack = async (one: Awaited<ReturnType<typeof gateway>>, who: Speaker) =>
      await eventually('it to be back', async () => (await one.connect(who)).channels.join() === '#lobby');
    const first = await gateway({ idleMs: 1_500 });
    await first.join({ ...alice, channel: '#lobby' });
    await leaves(first);
    t.match(await first.look(alice), { connected: false, channels: [] });
    await isBack(first, alice);
    await leaves(first);
    await first.end();

    const second = await gateway({ idleMs: 1_500 });
    await isBack(second, alice);
    await leaves(second);
    const stranger = { nick: 'alice', person: personOf('wallet 0xb'), by: 'agent:alice:2' };
    await second.connect(stranger);
    t.same((await second.look(stranger)).channels, [], 'another owner of the nick has its own');
    await second.disconnect(stranger);
    await second.connect(alice);
    t.same((await second.look(alice)).channels, [], 'nothing is left of what the other one took over');
    await second.join({ ...alice, channel: '#lobby' });
    await leaves(second);
    await second.disconnect(alice);
    t.same((await second.connect(alice)).channels, [], 'who leaves does not come back into channels');
  },
);

t.test('SPEAK-35 what is said to a nick, and what it said, is for who had it then', async (t) => {
  const { witness, gateway, log, say } = await stage(t);
  const one = await gateway();
  const parts = readingParts(log, one);
  const reader = (wallet: string): AgentCaller => {
    const common = { is: 'agent', key: '1', nick: 'alice', scopes: ['speak'] } as const;
    return { ...common, actor: `agent:alice:${wallet}`, wallet };
  };
  const texts = async (caller: Caller) => {
    const { messages } = await listInbox.run({ nick: 'alice', after: 0, limit: 100 }, caller, parts);
    t.notOk(messages.some((message) => 'person' in message));
    return messages.map(({ text }) => text);
  };
  await one.connect(alice);
  await one.say(say('hello', 'k1'));
  witness.send('PRIVMSG alice :for her alone');
  await eventually('her message', async () => (await texts(reader('0xa'))).length === 1);
  await one.disconnect(alice);

  const stranger = { nick: 'alice', person: personOf('wallet 0xb'), by: 'agent:alice:2' };
  await one.connect(stranger);
  witness.send('PRIVMSG alice :who are you');
  await eventually('the message of the stranger', async () => (await texts(reader('0xb'))).length > 0);
  t.same(await texts(reader('0xb')), ['who are you']);
  t.same(await texts(reader('0xa')), ['for her alone']);
  t.same(await texts({ is: 'key', actor: 'ops' }), ['for her alone', 'who are you']);
  const repeated = { ...stranger, to: '#lobby', text: 'hello', action: false, key: 'k1' };
  await t.rejects(
    one.say(repeated),
    { code: 'idempotency_key_reused' },
    'her key answers nothing of her line',
  );
});

t.test('SPEAK-11 who looks into its inbox is not silent', async (t) => {
  const { gateway, log } = await stage(t);
  let looks = 0;
  const ended = async () => {
    looks++;
    return new Set<string>();
  };
  const one = await gateway({ idleMs: 3_000, lookMs: 100, ended });
  await one.join({ ...alice, channel: '#lobby' });
  const parts = readingParts(log, one);
  const reader: AgentCaller = {
    is: 'agent',
    actor: alice.by,
    key: '1',
    nick: 'alice',
    wallet: '0xa',
    scopes: ['speak'],
  };
  const before = looks;
  await eventually('it to be looked after for long', async () => {
    await listInbox.run({ nick: undefined, after: 0, limit: 1 }, reader, parts);
    return looks > before + 40;
  });
  t.match(await one.look(alice), { connected: true, channels: ['#lobby'] });
});

t.test('SPEAK-17 an agent whose keys have all ended leaves, and is not brought back', async (t) => {
  const { witness, gateway, facts } = await stage(t);
  const ended = new Set<string>();
  let looks = 0;
  const options = {
    lookMs: 200,
    ended: async (actors: readonly string[]) => {
      looks++;
      return new Set(actors.filter((by) => ended.has(by)));
    },
  };
  const other = { ...alice, by: 'agent:alice:2' };
  const first = await gateway(options);
  await first.join({ ...alice, channel: '#lobby' });
  await first.connect(other);
  ended.add(alice.by);
  const before = looks;
  await eventually('two more looks', async () => looks >= before + 2);
  t.match(await first.look(alice), { connected: true }, 'one of its keys is good');
  ended.add(other.by);
  await witness.waitUntil(() => witness.raw.some((line) => /:alice!\S+ QUIT .*The key has ended/.test(line)));
  t.match(await first.look(alice), { connected: false });

  ended.clear();
  await first.join({ ...alice, channel: '#lobby' });
  await first.connect(other);
  await first.end();
  ended.add(alice.by);
  const second = await gateway(options);
  await eventually('it to be back', async () => (await second.look(alice)).connected);
  await second.end();
  ended.add(other.by);
  await gateway(options);
  const states = await eventually('its end on record', async () => {
    const found = await facts(connectionSubject('alice'));
    const last = found.at(-1);
    return last?.type === 'connection.changed' && !last.data.open && found;
  });
  t.match(states.at(-1), { data: { channels: [], open: false, reason: 'The key has ended' } });
});

t.test('SPEAK-17 a line that still waits when its key ends is not said', async (t) => {
  const { log, witness, gateway, facts } = await stage(t);
  for (const [id, by] of [
    ['of-an-ended-key', 'agent:alice:1'],
    ['of-a-good-key', 'agent:alice:2'],
  ] as const) {
    const data = { ...alice, by: undefined, id, to: '#lobby', text: id, action: false };
    await log.append(speech, lineSubject('alice', id), { type: 'line.requested', data }, { by });
  }
  await gateway({ ended: async (actors) => new Set(actors.filter((by) => by === 'agent:alice:1')) });
  await witness.waitUntil(() => witness.texts('#lobby').includes('of-a-good-key'));
  const [, end] = await eventually('its end', async () => {
    const found = await facts(lineSubject('alice', 'of-an-ended-key'));
    return found.length === 2 && found;
  });
  t.match(end, { type: 'line.expired' });
  t.same(witness.texts('#lobby'), ['of-a-good-key']);
});

t.test('SPEAK-06 a channel that does not let an agent in again is tried for a while', async (t) => {
  const { ircd, witness, gateway, facts } = await stage(t);
  const channels = ['#lobby', '#payments'];
  const first = await gateway();
  for (const channel of channels) await first.join({ ...alice, channel });
  await first.end();
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  const mode = (mode: string, ...on: string[]) =>
    witness.ask(...on.map((channel) => `SAMODE ${channel} ${mode} *!*@*`));
  await mode('+b', ...channels);
  const second = await gateway({ lookMs: 100, againMs: 200 });
  await eventually('it to be back', async () => (await second.look(alice)).connected);
  t.same((await second.look(alice)).channels, [], 'no channel is named where it is not');
  await mode('-b', '#lobby');
  await eventually('the lobby', async () => (await second.look(alice)).channels.includes('#lobby'));
  const states = await eventually('the other one to be given up', async () => {
    const found = await facts(connectionSubject('alice'));
    const last = found.at(-1);
    return last?.type === 'connection.changed' && last.data.channels.length === 1 && found;
  });
  t.match(states.at(-1), { data: { channels: ['#lobby'], open: true } });
  await mode('-b', '#payments');
  t.match(await second.join({ ...alice, channel: '#payments' }), { channels }, 'and can be joined later');
});

t.test('SPEAK-38 an agent whose nick somebody took', async (t) => {
  const { ircd, witness, gateway, say } = await stage(t);
  const relay = await startTcpRelay(t, ircd.port);
  const said: string[] = [];
  const alone = {
    url: relay.url,
    lookMs: 100,
    logger: pino({}, { write: (line: string) => void said.push(JSON.parse(line).msg) }),
  };
  const sees = async (does: RegExp, from: number) =>
    await witness.waitUntil(() => witness.raw.slice(from).some((line) => does.test(line)));
  /** Somebody takes its nick while it cannot come, and still has it when it tries. */
  const taken = async () => {
    const from = witness.raw.length;
    relay.refuse(true);
    relay.cut();
    await sees(/:alice!\S+ QUIT/, from);
    await witness.ask('NICK alice');
    const { length } = said;
    relay.refuse(false);
    await eventually('it to be refused, and to give up', () => {
      const refused = said.indexOf('irc nick cannot be taken', length);
      return refused >= 0 && said.includes('irc connection', refused);
    });
  };

  await t.test('speaks as soon as the nick is free', async (t) => {
    const one = await gateway({ ...alone, againMs: hourMs });
    await one.join({ ...alice, channel: '#lobby' });
    await taken();
    await t.rejects(one.connect(alice), { code: 'nick_in_use' });
    await witness.ask('NICK witness');
    t.match(await one.say({ ...say('back', 'k1'), to: 'witness' }), { is: 'shown' });
    await eventually('its channel', async () => (await one.look(alice)).channels.join() === '#lobby');
    await taken();
    await witness.ask('NICK witness');
    const line = await one.say({ ...say('back', 'k2'), to: 'witness' });
    t.match(line, { is: 'shown' }, 'what it was told before it spoke does not count');
    await one.end();
  });

  await t.test('keeps its channels also when it was silent before', async () => {
    const one = await gateway({ ...alone, againMs: hourMs, idleMs: 1_500 });
    const from = witness.raw.length;
    await one.join({ ...alice, channel: '#lobby' });
    await sees(/:alice!\S+ QUIT/, from);
    await witness.ask('NICK alice');
    for (const time of ['first', 'second'])
      await t.rejects(one.connect(alice), { code: 'nick_in_use' }, `the ${time} time`);
    await witness.ask('NICK witness');
    await one.connect(alice);
    await eventually('its channel', async () => (await one.look(alice)).channels.join() === '#lobby');
    await one.disconnect(alice);
    await one.end();
  });

  await t.test('comes back by itself', async () => {
    const one = await gateway({ ...alone, againMs: 200 });
    await one.join({ ...alice, channel: '#lobby' });
    await taken();
    const from = witness.raw.length;
    await witness.ask('NICK witness');
    await sees(/:alice!\S+ JOIN/, from);
  });
});

t.test('SPEAK-18 joins of one agent are carried out one after the other, a few at a time', async (t) => {
  const { gateway } = await stage(t);
  const one = await gateway({ mostChannels: 2 });
  await one.connect(alice);
  const asked = ['#lobby', '#payments', '#disputes', '#bounties'].map((channel) =>
    one.join({ ...alice, channel }),
  );
  const codes = (await Promise.allSettled(asked)).map((each) =>
    each.status === 'rejected' ? each.reason.code : 'done',
  );
  t.same(codes, ['done', 'done', 'too_many_channels', 'too_many_channels']);
  const many = Array.from({ length: 12 }, (_, n) => one.join({ ...alice, channel: `#none-${n}` }));
  const refused = (await Promise.allSettled(many)).map((each) =>
    each.status === 'rejected' ? each.reason.code : 'done',
  );
  t.same(refused.slice(-2), ['rate_limited', 'rate_limited']);
  t.same(new Set(refused.slice(0, -2)), new Set(['too_many_channels']));
  const parts = Array.from({ length: 12 }, () => one.part({ ...alice, channel: '#lobby' }));
  const left = (await Promise.allSettled(parts)).map(({ status }) => status);
  t.same(left.slice(-2), ['rejected', 'rejected'], 'parts wait with them');
  t.same(new Set(left.slice(0, -2)), new Set(['fulfilled']));
  t.match(await one.look(alice), { channels: ['#payments'] });
});

t.test('SPEAK-18 a secret channel is entered like any other, and no channel is made', async (t) => {
  const { ircd, witness, gateway } = await stage(t);
  await witness.join('#hidden');
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #hidden +s');
  const one = await gateway();
  t.match(await one.join({ ...alice, channel: '#hidden' }), { channels: ['#hidden'] });
  await witness.ask('SAMODE #hidden +i');
  await one.part({ ...alice, channel: '#hidden' });
  await t.rejects(one.join({ ...alice, channel: '#hidden' }), { code: 'refused_by_network' });
  await witness.ask('SAMODE #hidden +o witness', 'INVITE alice #hidden');
  t.match(await one.join({ ...alice, channel: '#hidden' }), { channels: ['#hidden'] }, 'invited');
  await t.rejects(one.join({ ...alice, channel: '#nowhere' }), { code: 'not_found' });
  t.match(await witness.ask('MODE #nowhere'), [/ 403 /]);
});

t.test('SPEAK-12 a nick that has another owner is another person on the network', async (t) => {
  const { gateway, witness } = await stage(t);
  const one = await gateway();
  const hostOf = async () => {
    const from = witness.raw.length;
    await witness.ask('WHOIS alice');
    return witness.raw
      .slice(from)
      .find((line) => / 311 /.test(line))
      ?.split(' ')[6];
  };
  await one.join({ ...alice, channel: '#lobby' });
  const before = await hostOf();
  const owner = { ...alice, person: personOf('wallet 0xb') };
  await one.connect(owner);
  t.match(await one.look(owner), { connected: true, channels: [] }, 'and is in no channel of the former one');
  const after = await hostOf();
  t.ok(before && after && before !== after, `${before} and ${after}`);
});

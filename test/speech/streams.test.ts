import pino from 'pino';
import t from 'tap';
import type { AgentCaller } from '../../src/operations/core/caller.js';
import { listInbox } from '../../src/operations/speech/inbox.js';
import { Log, type StreamDefinition } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { connections, inbox, inboxSubjects, lineSubject, speech } from '../../streams/speech/index.js';
import { personOf, SpeakForAgents } from '../../workers/speech/index.js';
import { startIrcd } from '../support/ircd.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
const by = 'gateway';

async function openLog(t: Teardown, nats: TestNats, of: StreamDefinition[], maxBytes = 500_000_000) {
  const log = await Log.open({ urls: nats.url, name: 'test', streams: of, replicas: 1, maxBytes, logger });
  t.teardown(() => log.close());
  return log;
}

/** What a nick reads of its inbox. */
async function read(log: Log, nick: string, after = 0, limit = 100) {
  const caller: AgentCaller = { is: 'agent', actor: 'a', key: 'k', nick, wallet: null, scopes: ['speak'] };
  const gateway = { look: async () => ({ connected: true }) };
  const heard = (_channel: string | null, text: string) => text;
  const parts = { log, speech: { gateway, isOn: true, isKept: () => false, isService: () => false, heard } };
  return await listInbox.run({ nick, after, limit }, caller, parts as never);
}

const message = (text: string) => ({
  type: 'message.received' as const,
  data: { is: 'private' as const, from: 'bob', account: null, channel: null, text, msgid: null },
});

t.test('SPEAK-19 an older log goes on: inboxes and their ids, and who is on the network', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const before = await openLog(t, nats, [speech]);
  for (const text of ['one', 'two'])
    await before.append(speech, inboxSubjects('Alice').before, message(text), { by });
  const state = {
    nick: 'alice',
    person: personOf('nick alice'),
    channels: ['#lobby'],
    open: true,
    reason: '',
  };
  const fact = { type: 'connection.changed' as const, data: { ...state, users: [], away: null } };
  await before.append(speech, 'speech.connections.alice', fact, { by: 'agent:alice:1' });
  const log = await openLog(t, nats, streams);
  await log.append(inbox, inboxSubjects('alice').now, message('three'), { by });
  const { messages } = await read(log, 'alice');
  t.match(messages, [
    { id: 1, text: 'one' },
    { id: 2, text: 'two' },
    { id: 4, text: 'three' },
  ]);
  t.match(await read(log, 'alice', 2), { messages: [{ text: 'three' }] });
  t.match(await read(log, 'alice', 0, 2), { messages: [{ id: 1 }, { id: 2 }], has_more: true });
  const again = await openLog(t, nats, streams);
  t.match(await read(again, 'alice', 2), { messages: [{ id: 4 }] }, 'also after the next start');

  const gateway = new SpeakForAgents({
    bridge: 'relay',
    log,
    logger,
    password: ircd.gatewayPassword,
    most: 10,
    idleMs: 3_600_000,
    supersede: async () => false,
    connection: { url: ircd.url },
    ended: async () => new Set(),
  });
  t.teardown(() => gateway.stop());
  gateway.start();
  const alice = { nick: 'alice', by: 'agent:alice:1' };
  t.match(await gateway.join({ ...alice, channel: '#payments' }), { channels: ['#lobby', '#payments'] });
  const facts = [];
  for await (const { data } of log.subject(connections, 'connections.*')) facts.push(data);
  t.match(
    facts,
    [{ channels: ['#lobby', '#payments'], users: ['agent:alice:1'] }],
    'one state of each agent',
  );
});

t.test('SPEAK-20 nobody shortens the inbox of another', async (t) => {
  const log = await openLog(t, await startNats(t), streams, 20_000_000);
  await log.append(inbox, inboxSubjects('alice').now, message('for alice'), { by });
  const many = async (append: (n: number) => Promise<unknown>, times: number) => {
    for (let n = 0; n < times; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, k) => append(n + k)));
  };
  await many((n) => log.append(inbox, inboxSubjects('bob').now, message(`${n}`), { by }), 300);
  const line = {
    nick: 'bob',
    person: personOf('nick bob'),
    to: '#lobby',
    text: 'x'.repeat(340),
    action: false,
  };
  await many(
    (n) =>
      log.append(
        speech,
        lineSubject('bob', `${n}`),
        { type: 'line.requested', data: { ...line, id: `${n}` } },
        { by },
      ),
    600,
  );
  const { state } = await log.manager.streams.info(speech.name);
  t.ok(state.first_seq > 1, 'his lines have used up the room of all lines');
  t.match(await read(log, 'alice'), { messages: [{ text: 'for alice' }] });
  const his = await read(log, 'bob', 0, 100);
  t.match(
    his,
    { messages: [{ text: '100' }], has_more: true },
    'he has lost the oldest that was said to him',
  );
});

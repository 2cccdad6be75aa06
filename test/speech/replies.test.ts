import t from 'tap';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

interface Line {
  id: string;
  nick: string;
  text: string;
  reply_to?: string;
}

t.test('lines that answer others', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    IRC_CHANNELS: '#lobby,#agents,#closed',
    ROLES: 'all',
  });
  const { ask, given, tool, app } = stage;
  const channels = ['#lobby', '#agents', '#closed'];
  const witness = await observe(ircd.port, { nick: 'witness', channels });
  t.teardown(() => witness.stop());
  const alice = await given('alice', ['read', 'speak']);
  const bob = await given('bob', ['read', 'speak']);
  const say = (channel: string, body: object, { headers }: { headers: Record<string, string> } = alice) =>
    ask('POST', `/irc/channels/${channel}/messages`, body, headers);
  const lines = async (channel = 'lobby'): Promise<Line[]> =>
    (await ask('GET', `/irc/channels/${channel}/messages`, undefined, alice.headers)).body;
  const recorded = (text: string, channel = 'lobby'): Promise<Line> =>
    eventually(`the record of ${text}`, async () =>
      (await lines(channel)).find((line) => line.text === text),
    );
  const tagged = (text: string) => witness.raw.find((line) => line.endsWith(` :${text}`)) ?? '';
  const msgidOf = (text: string) => /[@;]msgid=([^; ]+)/.exec(tagged(text))![1]!;
  await eventually('the gateway to answer', async () => {
    const { status } = await ask('GET', '/irc/connection', undefined, alice.headers);
    return status === 200;
  });
  t.equal((await say('lobby', { text: 'who has time?' })).status, 200);
  const question = await recorded('who has time?');
  t.notOk('reply_to' in question, 'it answers none');

  await t.test('SPEAK-24 a line answers another, by its id in the record or by its msgid', async (t) => {
    const said = await say('lobby', { text: 'me, today', reply_to: question.id }, bob);
    t.match(said, { status: 200, body: { status: 'shown', reply_to: question.id } });
    t.notOk('reply_shown' in said.body, 'the network carries it');
    await witness.waitUntil(() => tagged('me, today') !== '');
    const msgid = msgidOf('who has time?');
    t.ok(tagged('me, today').split(' ')[0]!.includes(`+draft/reply=${msgid}`), tagged('me, today'));
    t.match(await recorded('me, today'), { nick: 'bob', reply_to: question.id });
    const tools = await tool('svc_say', { to: '#lobby', text: 'and me', reply_to: msgid }, bob.headers);
    t.match(tools.result.content[0].text, new RegExp(`"reply_to":"${msgid}"`));
    t.match(await recorded('and me'), { reply_to: question.id });
    const read = await tool('svc_get_messages', { channel: 'lobby' }, alice.headers);
    t.match(
      read.result.structuredContent.items.find(({ text }: Line) => text === 'and me'),
      { reply_to: question.id },
    );
  });

  await t.test('SPEAK-25 a line that is not there, or in another channel, cannot be answered', async (t) => {
    await witness.ask('PRIVMSG #agents :elsewhere');
    const elsewhere = await recorded('elsewhere', 'agents');
    for (const reply_to of ['999999-0', 'no-such-msgid', elsewhere.id, 'a b', '']) {
      const { status, body } = await say('lobby', { text: 'into the void', reply_to });
      t.match({ status, body }, { status: 400, body: { code: 'validation_failed' } }, reply_to);
      t.equal(body.details[0].path, 'reply_to');
    }
    await witness.ask();
    t.equal(tagged('into the void'), '', 'it is not said');
    await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #closed +s');
    await witness.ask('PRIVMSG #closed :for few');
    const { id } = await eventually('the record of what is private', async () => {
      const { body } = await ask('GET', '/irc/channels/closed/messages', undefined, operator);
      return (body as Line[]).find(({ text }) => text === 'for few');
    });
    t.match(await say('closed', { text: 'me too', reply_to: id }), {
      status: 400,
      body: { details: [{ message: `there is no line ${id} in #closed, or not for you` }] },
    });
    const keyed = { headers: { ...alice.headers, 'idempotency-key': 'k1' } };
    t.equal((await say('lobby', { text: 'once', reply_to: question.id }, keyed)).status, 200);
    t.equal((await say('lobby', { text: 'once', reply_to: question.id }, keyed)).status, 200);
    t.match(await say('lobby', { text: 'once' }, keyed), { status: 409 });
  });

  await t.test('SPEAK-26 answers of IRC clients are recorded too, and seen as they are said', async (t) => {
    const abort = new AbortController();
    t.teardown(() => abort.abort());
    const live = await fetch(`${app.url}/irc/stream?channel=lobby`, { signal: abort.signal });
    const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader();
    witness.send(`@+draft/reply=${msgidOf('who has time?')} PRIVMSG #lobby :a client answers`);
    t.match(await recorded('a client answers'), { nick: 'witness', reply_to: question.id });
    witness.send('@+draft/reply=made-up PRIVMSG #lobby :to nothing');
    t.notOk('reply_to' in (await recorded('to nothing')), 'what it answers is not recorded');
    let seen = '';
    while (!seen.includes('to nothing')) seen += (await reader.read()).value ?? '';
    const shown = seen
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
    t.equal(shown.find(({ text }) => text === 'a client answers').reply_to, question.id);
  });

  await t.test('SPEAK-30 who is answered finds it in the inbox, named or not', async (t) => {
    const answers = async () => {
      const { messages } = (await ask('GET', '/irc/inbox', undefined, alice.headers)).body;
      return messages.filter(({ text }: Line) => text.startsWith('answer'));
    };
    const msgid = msgidOf('who has time?');
    const toBob = msgidOf('me, today');
    witness.send(`@+draft/reply=${toBob} PRIVMSG #lobby :answer to bob`, 'PRIVMSG #lobby :answer to none');
    witness.send(`@+draft/reply=${msgid} PRIVMSG #lobby :answer of a client`);
    t.equal((await say('lobby', { text: 'answer of bob', reply_to: question.id }, bob)).status, 200);
    witness.send(`@+draft/reply=${msgid} PRIVMSG #lobby :answer for alice`);
    const found = await eventually('the last answer', async () => {
      const some = await answers();
      return some.some(({ text }: Line) => text === 'answer for alice') && some;
    });
    t.match(found, [
      { is: 'mention', from: 'witness', channel: '#lobby', text: 'answer of a client', reply_to: msgid },
      { is: 'mention', from: 'bob', text: 'answer of bob', reply_to: msgid },
      { is: 'mention', text: 'answer for alice', reply_to: msgid },
    ]);
    t.equal(found.length, 3);
  });

  await t.test('SPEAK-27 private messages are answered by the msgid that the inbox has', async (t) => {
    const connected = await ask('POST', '/irc/connection', {}, bob.headers);
    t.equal(connected.status, 200);
    const alone = (to: string, body: object, { headers }: { headers: Record<string, string> } = alice) =>
      ask('POST', `/irc/nicks/${to}/messages`, body, headers);
    t.equal((await alone('bob', { text: 'a secret?' })).status, 200);
    const heard = await eventually('the message', async () => {
      const { messages } = (await ask('GET', '/irc/inbox', undefined, bob.headers)).body;
      return messages.find(({ is }: { is: string }) => is === 'private');
    });
    t.match(heard, { text: 'a secret?', msgid: String });
    const answer = await alone('alice', { text: 'none', reply_to: heard.msgid }, bob);
    t.match(answer, { status: 200, body: { reply_to: heard.msgid } });
    t.match(await alone('witness', { text: 'none', reply_to: heard.msgid }, bob), {
      status: 400,
      body: { details: [{ path: 'reply_to' }] },
    });
  });
});

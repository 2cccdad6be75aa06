import t from 'tap';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

t.test('agents speak without an IRC connection of their own', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    ROLES: 'all',
  });
  const { ask, given, tool } = stage;
  const witness = await observe(ircd.port, { nick: 'witness', channels: ['#lobby'] });
  t.teardown(() => witness.stop());
  const alice = await given('alice', ['read', 'speak']);
  const bob = await given('bob', ['read', 'speak']);
  const toLobby = '/irc/channels/lobby/messages';
  const say = (path: string, body: object, headers: Record<string, string>) =>
    ask('POST', path, body, headers);
  await eventually('the gateway to answer', async () => {
    const { status } = await ask('GET', '/irc/connection', undefined, alice.headers);
    return status === 200;
  });

  await t.test('SPEAK-01 a line is seen under the own nick, and answered when it is', async (t) => {
    const said = await say(toLobby, { text: 'hello all' }, alice.headers);
    t.match(said, { status: 200, body: { status: 'shown', to: '#lobby', nick: 'alice', text: 'hello all' } });
    await witness.waitUntil(() => witness.texts('#lobby').includes('hello all'));
    const acted = await say(toLobby, { text: 'waves', action: true }, alice.headers);
    t.equal(acted.status, 200);
    await witness.waitUntil(() => witness.texts('#lobby').includes('\x01ACTION waves\x01'));
    const recorded = await eventually('the record of it', async () => {
      const { body } = await ask('GET', toLobby, undefined, alice.headers);
      return body.length >= 2 && body;
    });
    t.match(recorded, [
      { nick: 'alice', text: 'hello all' },
      { text: 'waves', action: true },
    ]);
    const from = witness.raw.length;
    witness.send('WHOIS alice');
    await witness.waitUntil(() => witness.raw.slice(from).some((line) => / 318 /.test(line)));
    const whois = witness.raw.slice(from).join('\n');
    t.match(whois, / 311 witness alice alice fd[0-9a-f]{2}(:[0-9a-f]{1,4}){7} /, 'a host of its own');
    t.match(whois, / 335 /, 'marked as a program');
  });

  await t.test('SPEAK-02 the same key is the same line, which is said once', async (t) => {
    const keyed = { ...alice.headers, 'idempotency-key': 'one' };
    const first = await say(toLobby, { text: 'only once' }, keyed);
    const again = await say(toLobby, { text: 'only once' }, keyed);
    t.match([first.status, again.status], [200, 200]);
    t.equal(again.body.id, first.body.id);
    t.match(await say(toLobby, { text: 'another' }, keyed), {
      status: 409,
      body: { code: 'idempotency_key_reused', hint: /new Idempotency-Key/ },
    });
    const other = await say(toLobby, { text: 'only once' }, { ...bob.headers, 'idempotency-key': 'one' });
    t.equal(other.status, 200, 'keys are those of one nick');
    await witness.waitUntil(
      () => witness.texts('#lobby').filter((text) => text === 'only once').length === 2,
    );
    await witness.ask();
    t.equal(witness.texts('#lobby').filter((text) => text === 'only once').length, 2);
  });

  await t.test('SPEAK-03 who is named, or written to alone, finds it in the inbox', async (t) => {
    t.match(await tool('svc_join', { channel: '#lobby' }, bob.headers), { result: { isError: undefined } });
    t.equal((await say(toLobby, { text: 'Bob: are you there? bobby is not' }, alice.headers)).status, 200);
    t.equal((await say(toLobby, { text: 'bobby is somebody else' }, alice.headers)).status, 200);
    const alone = await say('/irc/nicks/bob/messages', { text: 'psst' }, alice.headers);
    t.match(alone, { status: 200, body: { to: 'bob' } });
    const inbox = async (after = 0) =>
      (await tool('svc_inbox', { after }, bob.headers)).result.structuredContent;
    const { messages } = await eventually('both messages', async () => {
      const found = await inbox();
      return found.messages.length >= 2 && found;
    });
    t.match(messages, [
      { is: 'mention', from: 'alice', channel: '#lobby', text: 'Bob: are you there? bobby is not' },
      { is: 'private', from: 'alice', channel: null, text: 'psst' },
    ]);
    t.equal(messages.length, 2);
    t.match(await inbox(messages[0].id), { messages: [{ text: 'psst' }], has_more: false, connected: true });
    t.match(await ask('GET', '/irc/inbox?limit=1', undefined, bob.headers), {
      body: { messages: [{ is: 'mention' }], has_more: true },
    });
    const answered = await tool('svc_say', { to: 'alice', text: 'here' }, bob.headers);
    t.match(answered.result.content[0].text, /"status":"shown"/);
    // what the network shows to bob first comes to alice over another connection
    const { body } = await eventually('the message to alice', async () => {
      const found = await ask('GET', '/irc/inbox', undefined, alice.headers);
      return found.body.messages.length > 0 && found;
    });
    t.match(body, { messages: [{ is: 'private', from: 'bob', text: 'here' }] });
  });

  await t.test('SPEAK-04 refusals say what is wrong', async (t) => {
    const refused = async (
      request: Promise<{ status: number; body: { code?: string } }>,
      status: number,
      code: string,
    ) => t.match(await request, { status, body: { code } }, code);
    await refused(say(toLobby, { text: 'hi' }, {}), 401, 'api_key_required');
    const reader = await given('carol', ['read']);
    await refused(say(toLobby, { text: 'hi' }, reader.headers), 403, 'scope_missing');
    await refused(say(toLobby, { text: 'hi', nick: 'bob' }, alice.headers), 403, 'not_your_nick');
    t.match(await say(toLobby, { text: 'hi' }, operator), {
      status: 400,
      body: { error: /^nick is missing: .* agent key/, code: 'validation_failed' },
    });
    t.match(await say(toLobby, { text: 'hi', nick: 'em-b0t' }, operator), {
      status: 409,
      body: { code: 'nickname_reserved', hint: 'Take another nickname' },
    });
    const bad = [
      '',
      '  ',
      'a\nb',
      'a\u0001b',
      'a\u001b[2J',
      'a\u0007',
      'a\u0085',
      'a\ud800b',
      'é'.repeat(171),
    ];
    for (const text of bad) await refused(say(toLobby, { text }, alice.headers), 400, 'validation_failed');
    const invisible = ['\u202e\u200b', '\u2060', '\u3164', '\u00ad \u200d', '\x02\x02', '\x0304'];
    for (const text of invisible)
      t.match(await say(toLobby, { text }, alice.headers), {
        status: 400,
        body: { error: /^text must show something/, code: 'validation_failed' },
      });
    t.match(await say(toLobby, { text: 'nul\0x' }, alice.headers), {
      status: 400,
      body: { error: /^text must hold no control characters/ },
    });
    t.match(await say(toLobby, { text: 'a\nb' }, alice.headers), {
      body: { error: 'text must be one line' },
    });
    const longKey = { ...alice.headers, 'idempotency-key': 'k'.repeat(101) };
    const wrongKey = 'Idempotency-Key must have at most 100 characters';
    t.match(await say(toLobby, { text: 'hi' }, longKey), {
      status: 400,
      body: { error: wrongKey, details: [{ path: 'Idempotency-Key', message: wrongKey }] },
    });
    t.match(await say('/irc/channels/nowhere/messages', { text: 'hi' }, alice.headers), {
      status: 404,
      body: { error: 'There is no channel #nowhere', code: 'not_found', hint: /GET \/irc\/channels/ },
    });
    await witness.ask('MODE #nowhere');
    t.match(witness.raw.at(-2), / 403 witness #nowhere /, 'no channel is made by speaking into it');
    t.match(await say('/irc/nicks/nobody/messages', { text: 'hi' }, alice.headers), {
      status: 409,
      body: { error: /^401 /, code: 'refused_by_network', hint: /^Nobody has this nick now/ },
    });
    t.match(await say('/irc/channels/bounties/messages', { text: 'hi' }, alice.headers), {
      status: 409,
      body: { error: /^404 .*\+m/, code: 'refused_by_network', hint: /^Only those with voice speak there/ },
    });
    await refused(
      say('/irc/nicks/nickserv/messages', { text: 'IDENTIFY secret' }, alice.headers),
      403,
      'said_to_service',
    );
    const formatted = { text: '\u0002bold\u000f and \u000304red\u0003' };
    t.match(await say(toLobby, formatted, alice.headers), { status: 200, body: formatted });
    const unmarked = await tool('svc_say', { to: 'lobby', text: 'hi' }, alice.headers);
    t.match(unmarked.result, {
      isError: true,
      content: [
        {},
        { text: 'Code: refused_by_network' },
        { text: /^Hint: .*a channel is written with its #/ },
      ],
    });
    const taken = await given('witness', ['speak']);
    await refused(say(toLobby, { text: 'hi' }, taken.headers), 409, 'nick_in_use');
    const operators = await say(toLobby, { text: 'by the operator', nick: 'dora' }, operator);
    t.match(operators, { status: 200, body: { nick: 'dora' } });
  });

  await t.test('SPEAK-01 a metric tells how many there are', async (t) => {
    const metrics = await (await fetch(`${stage.app.url}/metrics`, { headers: operator })).text();
    t.match(metrics, /^relay_gateway_agents [3-9]$/m);
  });

  await t.test('SPEAK-05 the tools of speaking are for agent keys, and the others keep theirs', async (t) => {
    const names = async (headers: Record<string, string>) => {
      const { body } = await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
      return body.result.tools.map(({ name }: { name: string }) => name) as string[];
    };
    const speaking = ['svc_inbox', 'svc_join', 'svc_part', 'svc_say'];
    const has = async (headers: Record<string, string>) =>
      (await names(headers)).filter((name) => speaking.includes(name)).sort();
    t.same(await has(alice.headers), speaking);
    t.same(await has(operator), []);
    t.equal((await names(operator)).length, 57);
    t.match(await tool('svc_say', { to: '#lobby', text: 'hi' }, operator), { error: { code: -32602 } });
  });

  await t.test(
    'SPEAK-06 who is put out of a channel hears of it, and comes back when it wants',
    async (t) => {
      await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #lobby +o witness');
      witness.send('KICK #lobby bob :enough');
      const kicked = await eventually('the kick', async () => {
        const { body } = await ask('GET', '/irc/inbox', undefined, bob.headers);
        return body.messages.find(({ is }: { is: string }) => is === 'kick');
      });
      t.match(kicked, { from: 'witness', channel: '#lobby', text: 'enough' });
      t.match(await ask('GET', '/irc/connection', undefined, bob.headers), {
        body: { connected: true, channels: [] },
      });
      t.equal((await say(toLobby, { text: 'back' }, bob.headers)).status, 200);
      witness.send('SAKICK #lobby bob :Incident 7');
      const removed = await eventually('the kick by the server', async () => {
        const { body } = await ask('GET', '/irc/inbox', undefined, bob.headers);
        return body.messages.find(({ text }: { text: string }) => text === 'Incident 7');
      });
      t.match(removed, { is: 'kick', from: /^irc\./, channel: '#lobby' });
      t.equal((await say(toLobby, { text: 'back again' }, bob.headers)).status, 200);
      witness.send('MODE #lobby +b *!*@*', 'KICK #lobby bob :again');
      await eventually('the second kick', async () => {
        const { body } = await ask('GET', '/irc/connection', undefined, bob.headers);
        return body.channels.length === 0;
      });
      t.match(await say(toLobby, { text: 'banned' }, bob.headers), {
        status: 409,
        body: { code: 'refused_by_network', error: /^474 /, hint: /guardian\/incidents\/\{id\}\/appeal/ },
      });
      await witness.ask('MODE #lobby -b *!*@*');
    },
  );

  await t.test('SPEAK-17 keys that are revoked or void leave the network', async (t) => {
    const flora = await given('flora', ['speak']);
    t.equal((await say(toLobby, { text: 'so am I' }, flora.headers)).status, 200);
    await stage.proven('flora');
    const erin = await given('erin', ['speak']);
    t.equal((await say(toLobby, { text: 'I am here' }, erin.headers)).status, 200);
    t.equal((await ask('DELETE', `/auth/keys/${erin.id}`, undefined, operator)).status, 200);
    for (const nick of ['erin', 'flora']) {
      const quit = new RegExp(`:${nick}!\\S+ QUIT .*The key has ended`);
      await witness.waitUntil(() => witness.raw.some((line) => quit.test(line)));
    }
    t.match(await ask('GET', '/irc/connection', undefined, bob.headers), { body: { connected: true } });
    t.match(await say(toLobby, { text: 'and now?' }, erin.headers), {
      status: 401,
      body: { code: 'api_key_invalid' },
    });
  });

  await t.test('SPEAK-07 an agent leaves a channel, and the network', async (t) => {
    const left = await ask('DELETE', '/irc/connection/channels/lobby', undefined, alice.headers);
    t.match(left, { status: 200, body: { connected: true, channels: [] } });
    t.match(await ask('DELETE', '/irc/connection', undefined, alice.headers), {
      status: 200,
      body: { connected: false, channels: [] },
    });
    await eventually('it to be gone', async () => {
      const from = witness.raw.length;
      await witness.ask('WHOIS alice');
      return witness.raw.slice(from).some((line) => / 401 /.test(line));
    });
  });
});

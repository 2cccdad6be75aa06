import t from 'tap';
import { eventually } from '../support/eventually.js';
import { channelStage } from './stage.js';

t.test('the channel service on a real network', async (t) => {
  const stage = await channelStage(t);
  const { ask, names, modes, topic, witness } = stage;
  const ann = await stage.agent('ann');

  t.test('CHAN-04 CHAN-05 CHAN-06 a creation and what follows on the network', async (t) => {
    const created = await ask('POST', '/channels', {
      name: '#task-a1b2c3d4',
      type: 'task',
      modes: '+int',
      topic: 'A task | $5',
      invite_list: ['Ann', 'bob', 'em-bot'],
      metadata: { task_id: 'a1b2c3d4', bounty: 5 },
    });
    t.equal(created.status, 201);
    t.same(created.body, {
      name: '#task-a1b2c3d4',
      type: 'task',
      modes: '+int',
      topic: 'A task | $5',
      created: true,
      invited: ['Ann', 'em-bot'],
      failed_invites: ['bob'],
    });
    t.equal(
      await modes('#task-a1b2c3d4'),
      'HPinst 100:1d',
      'permanent and with history beside what was asked',
    );
    t.equal(await topic('#task-a1b2c3d4'), 'A task | $5');
    t.same(await names('#task-a1b2c3d4'), ['@channelserv', 'ann', 'em-bot']);
    const bob = await stage.agent('bob');
    await eventually('bob to be brought in', async () => (await names('#task-a1b2c3d4')).includes('bob'));
    await bob.waitUntil(() => bob.raw.some((line) => /JOIN :?#task-a1b2c3d4/.test(line)));
    t.match((await ask('GET', '/channels/task-a1b2c3d4')).body, {
      name: '#task-a1b2c3d4',
      type: 'task',
      modes: '+int',
      topic: 'A task | $5',
      metadata: { task_id: 'a1b2c3d4', bounty: 5 },
      created_at: /^\d{4}-/,
      archived_at: null,
      archive_reason: null,
      delete_after: null,
      deleted_at: null,
    });
  });

  t.test('CHAN-01 CHAN-03 refused creations', async (t) => {
    const again = await ask('POST', '/channels', { name: '#task-a1b2c3d4', type: 'task' });
    t.equal(again.status, 409);
    t.same(again.body, { error: 'Channel already exists', code: 'channel_exists' });
    const cases: [unknown, string[]][] = [
      [{}, ['name', 'type']],
      [{ name: 'noname', type: 'task' }, ['name']],
      [{ name: '#Upper', type: 'task' }, ['name']],
      [{ name: '#ab', type: 'other' }, ['name', 'type']],
      [{ name: '#abc', type: 'task', modes: 'nt' }, ['modes']],
      [{ name: '#abc', type: 'task', modes: '+ntQ' }, ['modes']],
      [{ name: '#abc', type: 'task', topic: 7, metadata: [] }, ['topic', 'metadata']],
      [
        { name: '#abc', type: 'task', invite_list: ['ok', '1bad', 'a,b'] },
        ['invite_list.1', 'invite_list.2'],
      ],
      [{ name: '#abc', type: 'task', invite_list: Array(51).fill('ann') }, ['invite_list']],
    ];
    for (const [body, paths] of cases) {
      const answer = await ask('POST', '/channels', body);
      t.equal(answer.status, 400, JSON.stringify(body));
      t.match(answer.body, { code: 'validation_failed', error: /./ });
      t.same(
        answer.body.details.map(({ path }: { path: string }) => path),
        paths,
      );
    }
    t.equal((await ask('GET', '/channels/abc')).status, 404);
  });

  t.test('CHAN-04 a channel that somebody has made before is taken over', async (t) => {
    await ann.join('#lisbon-people');
    ann.send('MODE #lisbon-people +k mine');
    const { status } = await ask('POST', '/channels', {
      name: '#lisbon-people',
      type: 'special',
      topic: 'All',
    });
    t.equal(status, 201);
    t.same(await names('#lisbon-people'), ['ann', 'channelserv']);
    t.equal(await modes('#lisbon-people'), 'HPnt 100:1d');
    t.equal(await topic('#lisbon-people'), 'All');
  });

  t.test('CHAN-11 CHAN-16 a patch and its audit records', async (t) => {
    const patched = await ask('PATCH', '/channels/task-a1b2c3d4', {
      topic: 'Changed',
      modes: ['+m', '+l-t 30'],
      voice: ['ann'],
      op: ['bob'],
      deop: ['ghost'],
    });
    t.equal(patched.status, 200);
    t.same(patched.body, { name: '#task-a1b2c3d4', updated: true, failed: { ghost: 'No such nick' } });
    t.equal(await topic('#task-a1b2c3d4'), 'Changed');
    t.equal(await modes('#task-a1b2c3d4'), 'HPilmns 100:1d 30');
    t.same(await names('#task-a1b2c3d4'), ['+ann', '+em-bot', '@bob', '@channelserv']);
    t.same((await ask('PATCH', '/channels/%23task-a1b2c3d4', { devoice: ['ann'] })).body, {
      name: '#task-a1b2c3d4',
      updated: true,
    });
    const { body } = await ask('GET', '/channels/task-a1b2c3d4/operations');
    t.equal(body.channel, '#task-a1b2c3d4');
    t.same(
      body.operations.map((o: Record<string, unknown>) => [o.operation, o.target_nick, o.details]),
      [
        ['devoice', 'ann', 'by local'],
        ['op', 'bob', 'by local'],
        ['voice', 'ann', 'by local'],
        ['topic', null, 'Changed (by local)'],
        ['samode', null, '+l-t 30 (by local)'],
        ['samode', null, '+m (by local)'],
        ['create', null, 'task +int (by local)'],
      ],
    );
    t.match((await ask('GET', '/channels/task-a1b2c3d4')).body, { modes: '+inml 30', topic: 'Changed' });
    const two = await ask('GET', '/channels/task-a1b2c3d4/operations?limit=2');
    t.same(two.body.operations, body.operations.slice(0, 2));
    t.same(Object.keys(two.body.operations[0]).sort(), [
      ...['channel', 'created_at', 'details', 'id', 'operation', 'target_nick'],
    ]);
    for (const limit of ['0', '201', 'x']) {
      const answer = await ask('GET', `/channels/task-a1b2c3d4/operations?limit=${limit}`);
      t.equal(answer.status, 400, limit);
    }
    t.equal((await ask('PATCH', '/channels/task-a1b2c3d4', { modes: '+x!' })).status, 400);
    const opped = await ask('PATCH', '/channels/task-a1b2c3d4', { modes: ['+n', '+o ann'] });
    t.match(opped, { status: 400, body: { details: [{ path: 'modes', message: /must not have o/ }] } });
    t.equal((await ask('PATCH', '/channels/task-a1b2c3d4', { modes: '+Q' })).status, 400);
    t.equal((await ask('PATCH', '/channels/task-a1b2c3d4', { voice: 'ann' })).status, 400);
    t.equal((await ask('PATCH', '/channels/nothing', { topic: 'x' })).status, 404);
  });

  t.test('CHAN-98 a topic that is set otherwise than asked is told', async (t) => {
    const answer = await ask('PATCH', '/channels/lisbon-people', { topic: `${'é'.repeat(200)}\x02` });
    const shown = 'é'.repeat(150);
    t.same(answer.body, { name: '#lisbon-people', updated: true, topic: shown });
    t.equal(await topic('#lisbon-people'), shown);
    const whole = await ask('PATCH', '/channels/lisbon-people', { topic: 'All' });
    t.same(whole.body, { name: '#lisbon-people', updated: true });
  });

  t.test('CHAN-14 member operations tell of each nick', async (t) => {
    const members = (body: unknown) => ask('POST', '/channels/task-a1b2c3d4/members', body);
    await stage.agent('carl');
    t.same((await members({ action: 'sajoin', nicks: ['carl', 'ann', 'ghost', '1,bad'] })).body, {
      action: 'sajoin',
      successful: ['carl', 'ann'],
      failed: { ghost: 'No such nick', '1,bad': 'No such nick' },
    });
    t.ok((await names('#task-a1b2c3d4')).includes('carl'));
    const dave = await stage.agent('dave');
    t.same((await members({ action: 'voice', nicks: ['CARL', 'dave'] })).body, {
      action: 'voice',
      successful: ['CARL'],
      failed: { dave: 'Not in the channel' },
    });
    t.same((await members({ action: 'op', nicks: ['carl'] })).body.successful, ['carl']);
    t.ok((await names('#task-a1b2c3d4')).includes('@carl'));
    t.same((await members({ action: 'deop', nicks: ['carl', 'ann'] })).body.successful, ['carl', 'ann']);
    t.same((await members({ action: 'devoice', nicks: ['carl'] })).body.successful, ['carl']);
    t.ok((await names('#task-a1b2c3d4')).includes('carl'));
    const parted = await members({ action: 'sapart', nicks: ['carl', 'dave'], reason: 'not\r\nyours' });
    t.same(
      parted.body,
      { action: 'sapart', successful: ['carl', 'dave'], failed: {} },
      'gone already is gone',
    );
    t.notOk((await names('#task-a1b2c3d4')).includes('carl'));
    t.notOk(dave.raw.some((line) => line.includes('#task-a1b2c3d4')));
    t.equal((await ask('POST', '/channels/nothing/members', { action: 'op', nicks: ['ann'] })).status, 404);
    for (const bad of [{ action: 'kick', nicks: ['ann'] }, { action: 'op' }, { action: 'op', nicks: [] }]) {
      t.equal((await members(bad)).status, 400, JSON.stringify(bad));
    }
    const [last] = (await ask('GET', '/channels/task-a1b2c3d4/operations?limit=1')).body.operations;
    t.match(last, { operation: 'sapart', target_nick: 'dave', details: 'not yours (by local)' });
  });

  t.test('CHAN-80 nobody silences our own bots', async (t) => {
    const before = await names('#task-a1b2c3d4');
    t.ok(before.includes('+em-bot') && before.includes('@channelserv'), before.join(' '));
    const refused = { 'EM-bot': /bot of this service/, channelserv: /./, relay: /./, ghost: 'No such nick' };
    for (const action of ['sapart', 'devoice', 'deop'])
      t.match(
        await ask('POST', '/channels/task-a1b2c3d4/members', { action, nicks: Object.keys(refused) }),
        { status: 200, body: { action, successful: [], failed: refused } },
        action,
      );
    for (const list of ['devoice', 'deop'])
      t.match(await ask('PATCH', '/channels/task-a1b2c3d4', { [list]: ['em-bot'] }), {
        status: 200,
        body: { failed: { 'em-bot': /bot of this service/ } },
      });
    t.same(await names('#task-a1b2c3d4'), before);
    const voiced = await ask('POST', '/channels/task-a1b2c3d4/members', {
      action: 'voice',
      nicks: ['em-bot'],
    });
    t.same(voiced.body.successful, ['em-bot'], 'what does no harm is done');
  });

  t.test('CHAN-12 archived, and archived again', async (t) => {
    const before = Date.now();
    const archived = await ask('DELETE', '/channels/task-a1b2c3d4', { reason: 'Task approved' });
    t.equal(archived.status, 200);
    t.match(archived.body, { name: '#task-a1b2c3d4', archived: true, archive_reason: 'Task approved' });
    const days = (Date.parse(archived.body.delete_after) - before) / 86_400_000;
    t.ok(days > 6.99 && days < 7.01, `deleted after ${days} days`);
    t.equal(await topic('#task-a1b2c3d4'), '[ARCHIVED] Task approved');
    t.equal(await modes('#task-a1b2c3d4'), 'HPilmns 100:1d 30');
    t.same(await names('#task-a1b2c3d4'), ['+em-bot', '@bob', '@channelserv', 'ann']);
    const again = await ask('DELETE', '/channels/task-a1b2c3d4', { reason: 'Another' });
    t.same([again.status, again.body], [200, archived.body]);
    t.match((await ask('GET', '/channels/task-a1b2c3d4')).body, {
      topic: '[ARCHIVED] Task approved',
      archive_reason: 'Task approved',
      archived_at: /^\d{4}-/,
      delete_after: archived.body.delete_after,
    });
    t.equal((await ask('POST', '/channels', { name: '#task-a1b2c3d4', type: 'task' })).status, 409);
    const plain = await ask('POST', '/channels', { name: '#city-porto', type: 'geographic' });
    t.match(plain.body, { modes: '+nt', topic: '', invited: [], failed_invites: [] });
    // as clients send it that announce JSON in every request
    const announced = { 'content-type': 'application/json' };
    t.match((await ask('DELETE', '/channels/city-porto', undefined, announced)).body, {
      archived: true,
      archive_reason: 'Archived',
    });
    t.equal(await modes('#city-porto'), 'HPmnt 100:1d');
    t.equal(await topic('#city-porto'), '[ARCHIVED] Archived');
  });

  t.test('CHAN-16 lists and statistics', async (t) => {
    const list = await ask('GET', '/channels');
    t.equal(list.body.total, 3);
    t.same(
      list.body.channels.map(({ name }: { name: string }) => name),
      ['#city-porto', '#lisbon-people', '#task-a1b2c3d4'],
    );
    t.same((await ask('GET', '/channels?type=task')).body.channels, [list.body.channels[2]]);
    t.equal((await ask('GET', '/channels?type=other')).status, 400);
    t.match((await ask('GET', '/channels/stats')).body, {
      total: 3,
      byType: { task: 1, geographic: 1, special: 1, relay: 0 },
      archived: 2,
      operationsToday: Number,
    });
    t.equal((await ask('GET', '/channels/UPPER.name')).status, 404);
    t.equal((await ask('GET', '/channels/never/operations')).status, 404);
  });

  t.test('CHAN-02 CHAN-13 deleted at once, and the name is free', async (t) => {
    const deleted = await ask('DELETE', '/channels/task-a1b2c3d4', { immediate: true, reason: 'Over' });
    t.same([deleted.status, deleted.body], [200, { name: '#task-a1b2c3d4', deleted: true }]);
    t.equal(await modes('#task-a1b2c3d4'), undefined, 'gone from the network');
    await ann.waitUntil(() => ann.raw.some((line) => /PART #task-a1b2c3d4 :?"?Over/.test(line)));
    for (const [method, path, body] of [
      ['GET', '/channels/task-a1b2c3d4'],
      ['PATCH', '/channels/task-a1b2c3d4', { topic: 'x' }],
      ['DELETE', '/channels/task-a1b2c3d4', {}],
      ['POST', '/channels/task-a1b2c3d4/members', { action: 'op', nicks: ['ann'] }],
    ] as const) {
      const answer = await ask(method, path, body);
      const { hint, ...told } = answer.body as { hint?: string };
      t.same([answer.status, told], [404, { error: 'Channel not found', code: 'not_found' }], method);
      t.match(hint, /GET \/channels lists/, method);
    }
    t.equal(
      (await ask('GET', '/channels/task-a1b2c3d4/operations?limit=1')).body.operations[0].operation,
      'delete',
    );
    t.equal((await ask('POST', '/channels', { name: '#task-a1b2c3d4', type: 'task' })).status, 201);
    t.equal(await modes('#task-a1b2c3d4'), 'HPnt 100:1d');
    t.same(await names('#task-a1b2c3d4'), ['@channelserv']);
  });

  t.test('CHAN-23 a bot that is put out comes back', async (t) => {
    await witness.ask('SAJOIN witness #task-a1b2c3d4', 'SAMODE #task-a1b2c3d4 +o witness');
    await witness.ask('KICK #task-a1b2c3d4 channelserv :out', 'PART #task-a1b2c3d4');
    t.same(await names('#task-a1b2c3d4'), [], 'it does not come back in the same moment');
    await eventually('the bot', async () => (await names('#task-a1b2c3d4')).includes('channelserv'));
  });

  t.test('CHAN-28 a creation that the network refuses leaves nothing behind', async (t) => {
    const body = { name: '#flooded', type: 'special', modes: '+ntf nonsense' };
    const refused = await ask('POST', '/channels', body);
    t.match(refused, { status: 409, body: { code: 'refused_by_network', error: /^The network refuses/ } });
    t.equal((await ask('GET', '/channels/flooded')).status, 404);
    t.equal(await modes('#flooded'), undefined);
    t.equal((await ask('POST', '/channels', { ...body, modes: '+nt' })).status, 201);
    const patched = await ask('PATCH', '/channels/flooded', { modes: '+f nonsense' });
    t.match(patched, { status: 409, body: { code: 'refused_by_network' } });
    t.match((await ask('GET', '/channels/flooded')).body, { modes: '+nt' });
    t.equal((await ask('DELETE', '/channels/flooded', { immediate: true })).status, 200);
  });

  t.test('CHAN-11 a key is taken away without naming it', async (t) => {
    t.equal((await ask('PATCH', '/channels/lisbon-people', { modes: '+k secret' })).status, 200);
    t.equal(await modes('#lisbon-people'), 'HPknt 100:1d <key>');
    t.equal((await ask('PATCH', '/channels/lisbon-people', { modes: '+k another' })).status, 200);
    t.equal((await ask('GET', '/channels/lisbon-people')).body.modes, '+ntk another');
    const frank = await stage.agent('frank');
    await frank.join('#lisbon-people another');
    t.ok((await names('#lisbon-people')).includes('frank'), 'the new key opens');
    t.equal((await ask('PATCH', '/channels/lisbon-people', { modes: ['-k', '+s'] })).status, 200);
    t.equal(await modes('#lisbon-people'), 'HPnst 100:1d');
    t.equal((await ask('GET', '/channels/lisbon-people')).body.modes, '+nts');
  });

  t.test('CHAN-14 a task channel takes in no more than fit', async (t) => {
    await stage.agent('erin');
    const members = { action: 'sajoin', nicks: ['erin'] };
    const guests = await Promise.all(Array.from({ length: 50 }, (_, n) => stage.agent(`guest${n}`)));
    const body = { name: '#task-full', type: 'task', invite_list: guests.map(({ nick }) => nick) };
    t.equal((await ask('POST', '/channels', body)).body.invited.length, 50);
    t.same((await ask('POST', '/channels/task-full/members', members)).body.failed, {
      erin: 'Channel is full',
    });
    await ask('POST', '/channels/task-full/members', { action: 'sapart', nicks: ['guest7'] });
    t.same((await ask('POST', '/channels/task-full/members', members)).body.successful, ['erin']);
    await ask('DELETE', '/channels/task-full', { immediate: true });
  });

  t.test('CHAN-81 names that every object has', async (t) => {
    const post = async (metadata: string) => {
      const response = await fetch(`${stage.app.url}/channels`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"name":"#names-of-all","type":"special","metadata":${metadata}}`,
      });
      return { status: response.status, body: await response.json() };
    };
    const poison = [
      '{"__proto__":{"a":1}}',
      '{"a":{"\\u005f_proto__":1}}',
      '{"constructor":{"prototype":{}}}',
    ];
    for (const metadata of poison)
      t.match(
        await post(metadata),
        { status: 400, body: { code: 'bad_request', error: /__proto__/ } },
        metadata,
      );
    t.equal((await post('{"constructor":1,"toString":{"hasOwnProperty":2}}')).status, 201);
    const { metadata } = (await ask('GET', '/channels/names-of-all')).body;
    t.same(metadata, { constructor: 1, toString: { hasOwnProperty: 2 } });
    await stage.agent('constructor');
    const change = (action: string) =>
      ask('POST', '/channels/names-of-all/members', {
        action,
        nicks: ['constructor', '__proto__', 'toString'],
      });
    t.same(Object.entries((await change('voice')).body.failed).sort(), [
      ['__proto__', 'No such nick'],
      ['constructor', 'Not in the channel'],
      ['toString', 'No such nick'],
    ]);
    t.same((await change('sajoin')).body.successful, ['constructor']);
    const patched = await ask('PATCH', '/channels/names-of-all', { op: ['__proto__', 'constructor'] });
    t.same(Object.entries(patched.body.failed), [['__proto__', 'No such nick']]);
  });

  t.test('the bot is not sent what is said in the channels', async (t) => {
    const whois = (await witness.ask('WHOIS channelserv')).find((line) => / 379 /.test(line));
    t.match(whois, /modes \+[A-Za-z]*d/);
  });

  t.test('CHAN-26 health by the word of the network', async (t) => {
    const { services } = (await ask('GET', '/health')).body;
    const open = (await ask('GET', '/channels')).body.channels.filter(
      ({ modes }: { modes: string }) => !/[spik]/.test(modes),
    );
    t.match(services.channelserv, {
      status: 'ok',
      irc: { connected: true, oper: true, nick: 'channelserv' },
      uptime: Number,
      stats: { total: open.length, operationsToday: Number },
    });
  });
});

import t from 'tap';
import { ignoredIn, refuseMisspelt } from '../../src/operations/core/misspelt.js';
import { withoutIrc } from '../identity/stage.js';
import { keysStage, operator } from '../keys/stage.js';

t.test('API-20 which names are slips of the pen', async (t) => {
  const known = ['from_nick', 'wallet_address', 'channel', 'nick', 'to', 'url'];
  const paths = (given: unknown) => {
    try {
      refuseMisspelt(given, known);
      return [];
    } catch (error) {
      return (error as { extra: { details: { path: string }[] } }).extra.details.map(({ path }) => path);
    }
  };
  for (const name of [
    'form_nick',
    'from_nik',
    'fromNick',
    'walletAddress',
    'wallet-address',
    'chanel',
    'nik',
    'URL',
  ])
    t.same(paths({ [name]: 'x' }), [name], name);
  for (const name of ['colour', 'no', 'uri', 'sender', 'x'.repeat(10_000), '__proto__', 'constructor', ''])
    t.same(paths({ [name]: 'x' }), [], name.slice(0, 20));
  t.same(paths({ nick: 'ann', nik: 'x' }), [], 'who is given the right one too loses nothing');
  t.same(paths({ form_nick: 1, chanel: 2, other: 3 }), ['form_nick', 'chanel']);
  for (const given of [undefined, null, 'text', 7, [], Buffer.from('nik')]) t.same(paths(given), []);
});

t.test('API-21 what of a query is ignored, as a header tells it', async (t) => {
  const known = ['ability', 'limit'];
  t.equal(
    ignoredIn({ limt: '1', abilty: 'x', since: '2' }, known),
    'limt;meant="limit", abilty;meant="ability", since',
  );
  for (const query of [
    undefined,
    {},
    { limit: '1' },
    { 'a b': '1', 'x\r\ny': '1', ä: '1', ['x'.repeat(41)]: '1' },
  ])
    t.equal(ignoredIn(query, known), undefined, 'nothing that a header cannot have');
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`p${n}`, '']));
  t.equal(ignoredIn(many, known)!.split(', ').length, 10, 'bounded');
  t.equal(ignoredIn({ limit: '1', limt: '2' }, known), 'limt', 'what is given is not meant');
});

t.test('API-20 API-21 by HTTP and by tools', async (t) => {
  const { ask, given, tool } = await keysStage(t, { ROLES: withoutIrc });
  const { headers } = await given('alice', ['read', 'speak']);
  const refused = await ask('PUT', '/agents/alice', { abilities: ['paint'], langauges: ['de'] }, headers);
  t.match(refused, {
    status: 400,
    body: {
      code: 'validation_failed',
      error: 'langauges is not known: is languages meant?',
      details: [{ path: 'langauges' }],
    },
  });
  t.match(await ask('GET', '/agents/alice'), { status: 404 }, 'nothing was stored');
  const link = await ask(
    'POST',
    '/identity/link',
    { nick: 'zoe', walletAddress: `0x${'a'.repeat(40)}` },
    operator,
  );
  t.match(link, { status: 400, body: { details: [{ path: 'walletAddress' }] } });
  t.equal((await ask('PUT', '/agents/alice', { abilities: ['paint'], colour: 'red' }, headers)).status, 200);
  const misspelt = await ask('GET', '/agents?abilty=sing&colour=red&presence=here');
  t.equal(misspelt.status, 200, 'unknown members of a query are ignored');
  t.equal(misspelt.headers.get('x-ignored-parameters'), 'abilty;meant="ability", colour', 'and it is said');
  for (const [path, told] of [
    ['/irc/channels/lobby/messages?since=1', 'since'],
    ['/leaderboard/agents?limt=1', 'limt;meant="limit"'],
    ['/leaderboard/agents?limit=1', null],
    ['/irc/stats?x=1', 'x'],
    ['/em/tasks?anything=goes', null],
  ] as const)
    t.equal((await ask('GET', path)).headers.get('x-ignored-parameters'), told, path);
  const rating = { nick: 'alice', channel: '#lobby', rating: 5, form_nick: 'zoe' };
  const said = await tool('svc_give_feedback', rating, operator);
  t.match(said.result, {
    isError: true,
    content: [{ text: /^Error: form_nick: is not known: is from_nick meant/ }],
  });
  t.match(await tool('svc_em_create_task', { titel: 'x' }, operator), {
    result: { content: [{ text: /^(?!.*titel)/ }] },
  });
});

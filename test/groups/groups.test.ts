import { readFileSync } from 'node:fs';
import t from 'tap';
import { addressLine, GroupWatch, groupsIn, nameOf, readAddressLine } from '../../streams/groups/index.js';

t.test('GROUP-04 what agents and people read says the same bounds', async (t) => {
  const skill = readFileSync('skill/MESSAGING.md', 'utf8').replace(/\s+/g, ' ');
  t.match(
    skill,
    /`@translate\+2` those of level 2 or more\. The bot `\{bridge_bot\}` names them in one line, 20 at most/,
  );
  t.match(
    skill,
    /once a minute for each group, and for five lines of yours in ten minutes\. .* a group for ten minutes/,
  );
  const guide = readFileSync('docs/guides/directory.md', 'utf8').replace(/\s+/g, ' ');
  t.match(guide, /One line of the bridge has 20 nicks at most/);
  t.match(
    guide,
    /resolved once a minute, and ten lines a minute\. One person has five such lines in ten minutes/,
  );
  t.match(guide, /cannot address a group in that channel for ten minutes/);
});

const namesIn = (text: string) => groupsIn(text).groups.map(nameOf);

t.test('GROUP-01 GROUP-02 what of a line is a group', async (t) => {
  for (const [text, ...groups] of [
    ['@translate please', '@translate'],
    ['can somebody of @Translate+2, or (@code-review) look?', '@translate+2', '@code-review'],
    ['@workers-lisbon: it is raining.', '@workers-lisbon'],
    ['@c++ @gpt+2+0 @translate.', '@c++', '@gpt+2', '@translate'],
    ['@translate+0 @translate', '@translate'],
    ['write to alice@example.org or @me@example.org'],
    ['@ @- @bob[1] @übersetzen @traduccióN @bob|away'],
    [`@${'a'.repeat(33)} @${'a'.repeat(32)}`, `@${'a'.repeat(32)}`],
    ['@a @b @c @d', '@a', '@b', '@c'],
    [`${'x'.repeat(400)} @translate`],
  ] as const)
    t.same(namesIn(text), groups, text);
  t.equal(groupsIn('is there @translate?').asks, true);
  t.equal(groupsIn('@translate, is it there?').asks, false);
});

t.test('GROUP-01 the line that names who is meant', async (t) => {
  const groups = [
    { ability: 'translate', level: 2 },
    { ability: 'review', level: 0 },
  ];
  const line = addressLine(groups, ['bob', 'carol']);
  t.equal(line, '@translate+2 @review: bob, carol');
  t.same(readAddressLine(line), { groups: '@translate+2 @review', nicks: ['bob', 'carol'] });
  const many = Array.from({ length: 1_000 }, (_, n) => `agent${n}`);
  const bounded = addressLine(groups, many);
  t.match(bounded, /agent19, and 980 more$/);
  t.same(readAddressLine(bounded)!.nicks, many.slice(0, 20));
  const long = addressLine(groups, Array<string>(30).fill('n'.repeat(30)));
  t.ok(Buffer.byteLength(long) <= 380, `${Buffer.byteLength(long)} bytes`);
  t.match(long, /, and \d\d more$/);
  for (const text of ['hello', '@translate', '@translate hello: bob', ': bob'])
    t.equal(readAddressLine(text), undefined, text);
});

t.test('GROUP-04 bounds', async (t) => {
  const minute = 60_000;
  const nobody = () => false;
  const watched = () => {
    const watch = new GroupWatch();
    const found = (at: number, nick: string, text: string, channel = '#a', person = nick) =>
      watch.see(channel, { at, nick, person, text }, nobody);
    const see = (...line: Parameters<typeof found>) => found(...line)?.groups.map(nameOf) ?? [];
    const limit = (...line: Parameters<typeof found>) => {
      const seen = found(...line);
      return seen && ('limit' in seen ? seen.limit : 'none');
    };
    return { watch, see, limit };
  };
  await t.test('a group is resolved once a minute in each channel', async (t) => {
    const { see } = watched();
    t.same(see(0, 'ann', '@translate'), ['@translate']);
    t.same(see(1_000, 'ben', '@translate and @review'), ['@review'], 'of two, the other');
    t.same(see(2_000, 'ben', '@translate', '#A'), [], 'by any spelling of the channel');
    t.same(see(3_000, 'ben', '@translate', '#b'), ['@translate'], 'elsewhere');
    t.same(see(minute, 'cas', '@translate'), ['@translate'], 'a minute later');
  });
  await t.test('a person has five lines in ten minutes, whatever nick they take', async (t) => {
    const { see } = watched();
    const invented = Array.from({ length: 100 }, (_, n) =>
      see(n * 7_000, `mal${n}`, `@invented${n}`, `#c${n}`, 'host mal'),
    );
    // the first five, and as many when those are ten minutes ago
    t.equal(invented.flat().length, 10);
    t.same(see(20_000, 'ann', '@translate'), ['@translate'], 'others are as before');
  });
  await t.test('a channel has ten lines a minute', async (t) => {
    const { see } = watched();
    const all = Array.from({ length: 1_000 }, (_, n) => see(n, `n${n}`, `@group${n}`));
    t.equal(all.flat().length, 10);
    t.same(see(minute + 10, 'ann', '@translate'), ['@translate']);
  });
  await t.test(
    'who was addressed addresses nobody for ten minutes: no two programs go on by it',
    async (t) => {
      const { watch, see } = watched();
      let lines = 0;
      // each answers whatever group it is of with a line that addresses the group of the other
      for (let at = 0, speaker = 0; at < 60 * minute; at += 1_000, speaker = 1 - speaker) {
        const [nick, other] = speaker === 0 ? ['ping', 'pong'] : ['pong', 'ping'];
        if (see(at, nick!, `@${other}s`).length === 0) continue;
        lines += 1;
        watch.addressed('#a', [other!], at);
      }
      t.ok(lines < 36, `${lines} lines in an hour, of 3,600`);
      t.same(see(61 * minute, 'pong', '@pings', '#b'), ['@pings'], 'in another channel it may');
    },
  );
  await t.test('who asks is told of a limit, once a minute', async (t) => {
    const { watch, see, limit } = watched();
    see(0, 'ann', '@translate');
    t.equal(limit(1_000, 'ben', '@translate'), undefined, 'who does not ask is told nothing');
    t.equal(limit(2_000, 'ben', '@translate?'), 'group');
    t.equal(limit(3_000, 'ben2', '@translate?', '#a', 'ben'), undefined, 'whatever nick they take');
    t.equal(limit(4_000, 'ben', '@other?', '#b'), 'none', 'it holds back nothing else');
    t.equal(limit(minute - 1, 'ben', '@translate?'), undefined);
    watch.addressed('#a', ['cas'], 5_000);
    t.equal(limit(6_000, 'cas', '@other?'), 'addressed');
    for (let n = 0; n < 5; n++) see(7_000 + n, 'mal', `@m${n}`, '#c');
    t.equal(limit(8_000, 'mal', '@more?', '#c'), 'person');
    t.equal(limit(9_000, 'mal', '@more?', '#c'), undefined);
    t.equal(limit(8_000 + minute, 'mal', '@more?', '#c'), 'person', 'a minute later, again');
    for (let n = 0; n < 10; n++) see(200_000 + n, `n${n}`, `@n${n}`, '#d');
    t.equal(limit(201_000, 'dan', '@more?', '#d'), 'channel');
  });
  await t.test('a look counts nothing', async (t) => {
    const { watch, see } = watched();
    for (let n = 0; n < 20; n++)
      t.ok(watch.look('#a', { at: n, nick: 'mal', person: 'mal', text: '@translate' }, nobody));
    t.same(see(100, 'mal', '@translate'), ['@translate']);
  });
  await t.test('a nick of the channel is no group', async (t) => {
    const watch = new GroupWatch();
    const line = { at: 0, nick: 'ann', person: 'ann', text: '@bob @translate' };
    const found = watch.see('#a', line, (nick) => nick === 'bob');
    t.same(found?.groups.map(nameOf), ['@translate']);
  });
});

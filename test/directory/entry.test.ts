import t from 'tap';
import {
  type DirectoryFact,
  type EntryWords,
  entryDecider,
  isAbility,
  isCardAddress,
  languageOf,
  languageRanges,
  publishLimit,
} from '../../streams/directory/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(entryDecider);
const noon = new Date('2026-01-01T12:00:00.000Z');
const wallet = '0xa';
const words: EntryWords = {
  abilities: ['translate'],
  ask: 'ask me',
  card_url: null,
  languages: ['pt-BR'],
  price: '1 USDC',
  hours: null,
};
const silent: EntryWords = {
  abilities: ['paint'],
  ask: null,
  card_url: null,
  languages: [],
  price: null,
  hours: null,
};
const published = (of: EntryWords, more: object = {}): DirectoryFact => ({
  type: 'entry.published',
  data: { ...of, nick: 'alice', wallet, published_at: noon.toISOString(), ...more },
});
const publish = (of: EntryWords, more: object = {}) => ({
  ...({ is: 'publish', nick: 'alice', wallet, words: of } as const),
  ...more,
});
const paints = { is: 'set abilities' as const, nick: 'alice', wallet, abilities: ['paint'] };
const withdrawn: DirectoryFact = { type: 'entry.withdrawn', data: { nick: 'alice' } };

t.test('DIR-09 an entry replaces the one before, and the same one again is no fact', async (t) => {
  given([]).when(publish(words), noon).decides(t, published(words));
  given([published(words)])
    .when(publish(words), noon)
    .decides(t, undefined);
  given([published(words)])
    .when(publish(silent), noon)
    .decides(t, published(silent));
  given([published(words)])
    .when(publish(words, { wallet: '0xb' }), noon)
    .decides(t, published(words, { wallet: '0xb' }), 'of another owner');
});

t.test('DIR-01 abilities alone leave the rest as it is, of the same owner', async (t) => {
  given([]).when(paints, noon).decides(t, published(silent));
  given([published(words)])
    .when(paints, noon)
    .decides(t, published({ ...words, abilities: ['paint'] }));
  given([published(silent)])
    .when(paints, noon)
    .decides(t, undefined);
  given([published(words, { wallet: null })])
    .when(paints, noon)
    .decides(t, published(silent), 'what another owner said is not taken over');
  given([published(words), withdrawn])
    .when(paints, noon)
    .decides(t, published(silent));
});

t.test('DIR-02 it is taken back once', async (t) => {
  const withdraw = { is: 'withdraw', nick: 'alice' } as const;
  given([]).when(withdraw).refuses(t, 'not_found');
  given([published(words)])
    .when(withdraw)
    .decides(t, withdrawn);
  given([published(words), withdrawn])
    .when(withdraw)
    .refuses(t, 'not_found');
});

t.test('DIR-09 an entry changes only so often in an hour, and may always go', async (t) => {
  const { count, inMs } = publishLimit;
  const at = (ms: number) => ({ published_at: new Date(noon.getTime() + ms).toISOString() });
  const changes = Array.from({ length: count }, (_, n) => published(n % 2 ? words : silent, at(n)));
  const later = (ms: number) => new Date(noon.getTime() + ms);
  const other = { ...words, price: 'more' };
  given(changes.slice(1))
    .when(publish(other), later(count))
    .decides(t, published(other, at(count)));
  given(changes).when(publish(other), later(count)).refuses(t, 'rate_limited');
  given([...changes, withdrawn])
    .when(publish(other), later(count))
    .refuses(t, 'rate_limited');
  given(changes).when(publish(words), later(count)).decides(t, undefined, 'the same is no change');
  given(changes).when({ is: 'withdraw', nick: 'alice' }, later(count)).decides(t, withdrawn);
  given(changes)
    .when(publish(other), later(inMs))
    .decides(t, published(other, at(inMs)));
});

t.test('DIR-06 what may stand in an entry', async (t) => {
  for (const word of ['a', 'c++', 'node.js', 'x-ray_2', '3d', 'a'.repeat(32)]) t.ok(isAbility(word), word);
  for (const word of ['', '-a', 'Translate', 'two words', 'a,b', 'ä', '#a', 'a'.repeat(33), 'a\n'])
    t.notOk(isAbility(word), JSON.stringify(word));
  for (const address of ['https://a.example/card.json', 'http://a.example:8080/x?y=1'])
    t.ok(isCardAddress(address), address);
  for (const address of [
    ...[
      'ftp://a.example/',
      'javascript:alert(1)',
      'https://',
      'a.example/card',
      'https://me:secret@a.example/',
    ],
    `https://a.example/${'x'.repeat(300)}`,
  ])
    t.notOk(isCardAddress(address), address);
  t.equal(languageOf('PT-br'), 'pt-BR');
  t.equal(languageOf('zh-hant-tw'), 'zh-Hant-TW');
  for (const tag of ['', 'portuguese of brazil', 'pt_BR', 'x', `de-${'a1b2c3d4-'.repeat(4)}e5`])
    t.equal(languageOf(tag), undefined, tag);
  t.same(languageRanges('zh-Hant-TW'), ['zh', 'zh-hant', 'zh-hant-tw']);
});

import t, { type Test } from 'tap';
import { rules } from '../../streams/moderation/index.js';
import { neededBy } from '../../streams/moderation/needed.js';
import { longestRead, readingsOf } from '../../streams/moderation/normalise.js';
import { signsIn } from '../../streams/moderation/score.js';
import { attacks, benign, unseenAttacks } from './fixtures/read.js';
import { examples } from './fixtures/rules.js';
import { sampleOf } from './sample.js';

/** Every rule over every reading: what the gate has to agree with. */
const slowSignsIn = (readings: readonly string[]) =>
  rules
    .filter(({ pattern, unless }) =>
      readings.some((reading) => pattern.test(reading) && !unless?.test(reading)),
    )
    .sort((a, b) => b.weight - a.weight);

const corpus = [
  ...[...attacks(), ...unseenAttacks()].map(({ text }) => text),
  ...benign(),
  ...Object.values(examples).flatMap(({ shows, harmless }) => [...shows, ...harmless]),
];
const words = corpus.flatMap((text) => text.split(' '));
const characters = [
  ...' abcdefghijklmnopqrstuvwxyzABCXYZ0134578@$!|._-/*=+:;,\'"()[]{}<>#\t\u200b\u0301\x02éıаеоſK忽略이',
];

/** Numbers below a bound, the same ones in each run. */
function numbersFrom(seed: number): (below: number) => number {
  let last = seed;
  return (below) => {
    last = (Math.imul(last, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((last / 2 ** 32) * below);
  };
}
const below = numbersFrom(18);
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!;

const changes: ((text: string) => string)[] = [
  (text) => text.slice(below(text.length)),
  (text) => text.slice(0, below(text.length)),
  (text) => text.toUpperCase(),
  (text) => [...text].reverse().join(''),
  (text) => [...text].join(oneOf([' ', '.', '-'])),
  (text) => text.replaceAll(' ', oneOf(['_', '.', ' | ', '  ', '\t', ''])),
  (text) => text.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase()),
  (text) => text.replace(/[aeio]/g, (letter) => '4310'['aeio'.indexOf(letter)]!),
  (text) => Buffer.from(text).toString(oneOf(['base64', 'hex'] as const)),
  (text) => `${text}${oneOf([' ', ' | ', '. ', ''])}${oneOf(corpus)}`,
  (text) => text.replace(/\S+/, oneOf(words)),
  (text) => {
    const at = below(text.length + 1);
    return `${text.slice(0, at)}${oneOf(characters)}${text.slice(at + below(2))}`;
  },
];

function agrees(t: Test, texts: Iterable<string>): number {
  let found = 0;
  for (const text of texts) {
    const { plain, others, unpacked } = readingsOf(text);
    for (const readings of [[plain, ...others], unpacked, [text.slice(0, longestRead)]]) {
      const signs = slowSignsIn(readings);
      found += signs.length;
      const same = signsIn(readings);
      if (`${signs.map(({ id }) => id)}` !== `${same.map(({ id }) => id)}`) t.same(same, signs, text);
    }
  }
  return found;
}

t.test('MOD-02 MOD-03 the gate keeps out no rule of which a sign is there', async (t) => {
  t.ok(agrees(t, corpus) > 500);
  function* changed() {
    for (let count = 0; count < 4_000; count++) {
      let text = oneOf(corpus);
      for (let times = 1 + below(3); times > 0; times--) text = oneOf(changes)(text);
      yield text;
    }
  }
  t.ok(agrees(t, changed()) > 500);
  function* noise() {
    for (let count = 0; count < 1_000; count++) {
      const parts = below(2) === 0 ? words : characters;
      yield Array.from({ length: below(60) }, () => oneOf(parts)).join(parts === words ? ' ' : '');
    }
  }
  agrees(t, noise());
});

t.test('MOD-02 texts that are made from the patterns of the rules pass the gate', async (t) => {
  for (const { id, pattern } of rules) {
    const samples = Array.from({ length: 400 }, () => sampleOf(pattern, below));
    const matching = samples.filter((sample) => pattern.test(sample));
    t.ok(matching.length > 40, `${id}: ${matching.length} of 400 match, such as ${matching[0]}`);
    const kept = matching.filter((sample) => !signsIn([sample]).some((rule) => rule.id === id));
    const missed = kept.filter((sample) => slowSignsIn([sample]).some((rule) => rule.id === id));
    t.same(missed, [], id);
  }
});

t.test('what a pattern needs is read from it', async (t) => {
  const needs: [RegExp, string[] | undefined][] = [
    [/send money/, ['send money']],
    [/\b(?:send|pay) /, ['send', 'pay']],
    [/payments? to/, ['payment']],
    [/(?:all )?(?:quizzes|jokes)/, ['quizzes', 'jokes']],
    [/(?:jokes){0,3}quiz(?:aa|bb)+/, ['quiz']],
    [/(?<!quiz)(?!quiz)joke(?=quiz)/, ['joke']],
    [/[quiz]{4}.{0,9}\d\p{L}\[joke\]/u, ['[joke]']],
    [/quiz|[a-z]/, undefined],
    [/quiz|(?:joke)?/, undefined],
    [/a.b/, undefined],
  ];
  for (const [pattern, needed] of needs) t.same(neededBy(pattern), needed, `${pattern}`);
  for (const other of [/(quiz)/, /\x41quiz/, /(?<name>quiz)/])
    t.throws(() => neededBy(other), /not understood/, `${other}`);
});

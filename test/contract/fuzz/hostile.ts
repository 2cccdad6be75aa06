import type { Dice } from './dice.js';

/** Names that mean something to the language this is written in. */
const builtIn = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'];

/** Texts that break what takes them for harmless. */
export const texts: readonly string[] = [
  ...builtIn,
  ...['', ' ', '\0', '\r\n', 'a\r\nQUIT :bye\r\n', '\u0001ACTION x\u0001', '\u001b[2J', '\u007f', '\u202e'],
  ...[
    'é',
    '日本語',
    '👩‍👩‍👧‍👦',
    '\ud800',
    '\udfff',
    '\ufeff',
    'ﷺ'.repeat(40),
    'a\u0301'.repeat(200),
    'İ',
    'ß',
  ],
  ...['..', '../..', '../../etc/passwd', '/', '\\', '%2e%2e%2f', '%00', '%', '%zz', ';', '?', '#', '##', '&'],
  ...[
    "' or 1=1 --",
    '"',
    '`',
    '$1',

    '<script>',
    '{{x}}',
    '*',
    '>',
    '.',
    'market.>',
    '$JS.API.>',
    '$KV',
  ],
  ...[
    'NaN',
    'Infinity',
    '-0',
    '1e999',
    '0x10',
    '9007199254740993',
    '99999999999999999999',
    '-1',
    '1.5',
    'null',
  ],
  ...['true', 'undefined', '[]', '{}', '@everyone', '#lobby', '0', '#', 'x'.repeat(300), 'x'.repeat(9_000)],
  ...['2026-13-45T99:99:99Z', '0000-00-00', '+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z', '٣', '１'],
];

/** Numbers at the edges of what numbers can be, and of what databases take. */
export const numbers: readonly number[] = [
  ...[0, -0, -1, 1, 0.1, -0.5, 1e-7, 1e21, 1e308, 5e-324, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53, 2 ** 63],
  ...[99, 100, 101, 500, 501, 1_000_000],
];

/** A value of any type, hostile or not. */
export function anything(dice: Dice, depth = 0): unknown {
  const kind = dice.below(depth > 3 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return dice.chance(0.5);
  if (kind === 2) return dice.one(numbers);
  if (kind <= 4) return dice.one(texts);
  if (kind === 5) return dice.some(4, () => anything(dice, depth + 1));
  if (kind === 6) return Array.from({ length: dice.one([1_001, 5_000]) }, () => dice.one(['x', 1, null]));
  return object(dice.some(4, () => [dice.one(texts), anything(dice, depth + 1)] as const));
}

/** An object whose members are its own, whatever they are called. */
export function object(members: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, value] of members)
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  return made;
}

/** Bytes that are nearly JSON, or JSON of a kind that nobody sends. */
export function bytes(dice: Dice, text: string): Buffer {
  const opened = dice.one([64, 65, 1_000, 20_000]);
  return dice.one<() => Buffer>([
    () => Buffer.from(text.slice(0, dice.below(text.length + 1))),
    () => Buffer.from(`${text}${text}`),
    () => Buffer.from(`\ufeff${text}`),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xc3, 0x28, 0xff, 0x00])]),
    () => Buffer.from(`${'['.repeat(opened)}${']'.repeat(opened)}`),
    () => Buffer.from(`${'{"a":'.repeat(opened)}1${'}'.repeat(opened)}`),
    () => Buffer.from(text.replace('{', '{"__proto__":{"admin":true},')),
    () => Buffer.from(text.replace('{', '{"constructor":{"prototype":{"admin":true}},')),
    () => Buffer.from(text.replace('{', '{"a":1e400,"a":-1e400,')),
    () => Buffer.from(text.replaceAll('"', "'")),
    () => Buffer.from(''),
    () => Buffer.from(dice.one(['null', 'true', '0', '"x"', '[]', '{}', '[{}]', '1e400', ' ', '\0', '// x'])),
    () => Buffer.from(JSON.stringify({ x: 'x'.repeat(256 * 1024 + dice.below(2)) })),
    () => Buffer.from(JSON.stringify(anything(dice)) ?? 'null'),
  ])();
}

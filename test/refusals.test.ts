import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { errorsDoc, errorsFile } from '../scripts/errors-doc.js';
import { isExpected, Refusal, Unavailable } from '../streams/core/index.js';
import { type RefusalCode, refusalAreas, refusals } from '../streams/refusals.js';

const catalogue = 'streams/refusals.ts';
const sources = ['streams', 'projections', 'workers', 'src']
  .flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(room, name)),
  )
  .filter((file) => file !== catalogue)
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const names = Object.keys(refusals) as RefusalCode[];

t.test('ERR-01 a refusal is what the catalogue says of its name', async (t) => {
  t.match(new Refusal('challenge_missing'), {
    kind: 'refusal',
    code: 'challenge_missing',
    status: 400,
    message: 'No active challenge',
    extra: { hint: 'Ask for a challenge and sign that one' },
  });
  const details = [{ path: 'a', message: 'a is b' }];
  t.match(new Refusal('validation_failed', 'a is b', { details, hint: 'c', retryAfter: 7 }), {
    status: 400,
    message: 'a is b',
    extra: { details, hint: 'c', retryAfter: 7 },
  });
  t.same(new Refusal('nickname_taken').extra, {}, 'nothing more where there is nothing');
  t.match(new Refusal('challenge_signature_invalid'), { code: 'signature_invalid', status: 400 });
  t.match(new Refusal('event_signature_invalid'), { code: 'signature_invalid', status: 401 });
  t.match(new Unavailable('log_unavailable'), { kind: 'unavailable', status: 503, retryAfter: 2 });
  t.match(new Unavailable('log_unavailable', 'away', 9), { message: 'away', retryAfter: 9 });
  const received = new Unavailable({ code: 'of_a_later_version', status: 502 }, 'so it said');
  t.match(received, { code: 'of_a_later_version', status: 502, message: 'so it said', retryAfter: 1 });
  t.ok(isExpected(received));
});

t.test('ERR-01 every code stands in the catalogue once', async (t) => {
  t.same(
    Object.values(refusalAreas)
      .flatMap((area) => Object.keys(area))
      .sort(),
    [...names].sort(),
  );
  const cases = names.map((name) => {
    const { code = name, says, hint } = refusals[name];
    return [code, says, hint].join(' ');
  });
  t.equal(new Set(cases).size, names.length, 'names that share a code differ in what they mean');
  for (const name of names) {
    const { status, says, hint } = refusals[name];
    t.ok(status >= 400 && status < 600 && says.length > 5 && hint !== '', name);
    t.notMatch(says, /\.$/, `${name}: the hint follows its text after a point`);
  }
});

t.test('ERR-03 whoever asks for what is not there is told where to look', async (t) => {
  // told in other words, or to another process
  const others = ['workers/moderation/', 'workers/core/rpc.ts'];
  for (const name of names) if (refusals[name].code === 'not_found') t.ok(refusals[name].hint, name);
  let count = 0;
  for (const { file, text } of sources) {
    if (others.some((other) => file.startsWith(other))) continue;
    for (const [made] of text.matchAll(/new Refusal\(\s*'not_found'[^;]*/g)) {
      count++;
      t.match(made, /\bhint\b/, `${file}: ${made.slice(0, 80)}`);
    }
  }
  t.ok(count > 2, `${count} places`);
});

t.test('ERR-01 every name is in use', async (t) => {
  for (const name of names)
    t.ok(
      sources.some(({ text }) => text.includes(`'${name}'`) || text.includes(`refusals.${name}`)),
      name,
    );
});

t.test('ERR-01 no code is made beside the catalogue', async (t) => {
  // what another process answered
  const passingOn = [
    ...['src/operations/marketplace/calls.ts', 'src/operations/marketplace/passing-on.ts'],
    ...['src/remote/client.ts', 'workers/core/rpc.ts'],
  ];
  for (const { file, text } of sources) {
    if (!passingOn.includes(file))
      t.notMatch(text, /new (Refusal|Unavailable)\(\s*\{/, `${file} makes no code of its own`);
    if (!/^src\/(http|mcp|a2a|auth|remote|operations|pages|openapi|socket|oauth)\//.test(file)) continue;
    for (const [, code] of text.matchAll(/\bcode: '([a-z]+_[a-z_]+)'/g))
      t.ok(code! in refusals, `${file} answers ${code}`);
  }
});

t.test('ERR-02 the list of errors is that of the catalogue', async (t) => {
  const [kept, made] = [readFileSync(errorsFile, 'utf8'), errorsDoc()].map((text) => text.split('\n'));
  const at = made!.findIndex((line, index) => line !== kept![index]);
  t.equal(kept![at], made![at], `line ${at + 1} of ${errorsFile}; else: npm run docs:errors`);
  t.equal(kept!.length, made!.length);
});

import t from 'tap';
import {
  casefold,
  cleanText,
  cutToBytes,
  cutToCharacters,
  isChannel,
  isManagedChannel,
  isNick,
  lineBudget,
} from '../streams/irc-grammar.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const bytes = (text: string) => Buffer.byteLength(text);
const family = '👨‍👩‍👧‍👦';

t.test('ROUTE-32 nicks of the grammar and nothing else', async (t) => {
  for (const nick of ['a', 'Agent[1]', '`x', '^_^', '{a}', '|x|', '\\o', 'a-9', 'a'.repeat(30)]) {
    t.equal(isNick(nick), true, nick);
  }
  const not = [
    '',
    '9a',
    '-a',
    'a b',
    'a\n',
    'a,b',
    '#a',
    '\u212a',
    'é',
    'a~',
    'a!b',
    'a@b',
    'a:b',
    'a'.repeat(31),
  ];
  for (const nick of not) t.equal(isNick(nick), false, JSON.stringify(nick));
});

t.test('ROUTE-32 names that IRC takes for one have one key', async (t) => {
  t.equal(casefold('Agent[1]'), casefold('agent{1}'));
  t.equal(casefold('A\\B'), 'a|b');
  t.equal(casefold('#Bounties'), '#bounties');
  t.equal(casefold('\u212a'), '\u212a', 'the Kelvin sign is no k');
  t.equal(casefold('É'), 'É');
  t.equal(casefold('a^'), 'a^', 'InspIRCd keeps ^ and ~ apart');
  t.equal(casefold(casefold('X[\\]^_`{|}~')), 'x{|}^_`{|}~');
});

t.test('ROUTE-33 names of managed channels', async (t) => {
  for (const name of ['#abc', '#task-12345678', '#a_b', `#${'x'.repeat(60)}`]) {
    t.equal(isManagedChannel(name), true, name);
  }
  for (const name of [
    'abc',
    '#ab',
    `#${'x'.repeat(61)}`,
    '#Abc',
    '#a b',
    '#a,b',
    '#abc\n',
    '#caffè',
    '##abc',
  ]) {
    t.equal(isManagedChannel(name), false, JSON.stringify(name));
  }
});

t.test('names of channels met on the network', async (t) => {
  for (const name of ['#a', '##', '#Caffè', '#東京', '#a:b', `#${'x'.repeat(199)}`]) {
    t.equal(isChannel(name), true, name);
  }
  const not = ['', '#', 'a', '#a b', '#a,b', '#a\x07', '#a\r', '#a\0', '#\ud800', `#${'x'.repeat(200)}`];
  for (const name of [...not, `#${'京'.repeat(67)}`]) t.equal(isChannel(name), false, JSON.stringify(name));
});

t.test('ROUTE-28 what is cleaned', async (t) => {
  const cases: [string, string, string][] = [
    ['plain text', 'plain text', 'plain text'],
    ['line breaks', 'a\r\nPRIVMSG #ops :b\nc\0d', 'a PRIVMSG #ops :b c d'],
    ['other line breaks', 'a\u2028b\u2029c\u0085d\x0be', 'a b c d e'],
    ['CTCP', '\x01DCC SEND x 1 2 3\x01', 'DCC SEND x 1 2 3'],
    ['bold, italics, underline, reset', '\x02b\x02\x1di\x1d\x1fu\x1f\x0f.', 'biu.'],
    ['strikethrough, monospace, reverse', '\x1es\x1e\x11m\x11\x16r\x16', 'smr'],
    ['colours with their digits', '\x034,12red\x03 \x0312,x \x03,5 \x0399', 'red ,x ,5'],
    ['a third digit is text', '\x03123', '3'],
    ['hex colours', '\x04ff0000,00FF00red\x04', 'red'],
    ['a hex colour that is none', '\x04ff00', 'ff00'],
    ['terminal escapes', '\x1b[31mred', '[31mred'],
    ['bidi', 'a\u202eb\u2066c\u2069d\u200fe\u061cf', 'abcdef'],
    ['zero-width', 'a\u200bb\u200cc\u2060d\ufeffe\u00adf\u034fg\u200dh', 'abcdefgh'],
    ['fillers', 'a\u115f\u1160\u3164\uffa0b', 'ab'],
    ['tag characters', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}a\u{e0001}', '🏴a'],
    ['variation selectors as a carrier', 'a\ufe0f\u{e0100}\ufe01b', 'ab'],
    ['annotations and noncharacters', 'a\ufff9b\ufffac\ufffbd\uffffe\u{1fffe}', 'abcde'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['halves that only meet in the output', '\udb40\u200b\udc41', '\ufffd\ufffd'],
    ['white space', ' \t a \u00a0\u3000 b\u2003 ', 'a b'],
    ['nothing', '\x02\u200b\r\n', ''],
    ['emoji stay whole', `${family} ❤️‍🔥 👍🏽 1️⃣ 🇧🇷`, `${family} ❤️‍🔥 👍🏽 1️⃣ 🇧🇷`],
    ['joiners only inside emoji', '👨\u200d\u200d👩\u200d x\u200d👩 ❤\ufe0f\ufe0f', '👨👩 x👩 ❤\ufe0f'],
    ['other scripts', 'São Paulo 東京 नमस्ते مرحبا', 'São Paulo 東京 नमस्ते مرحبا'],
  ];
  for (const [name, text, expected] of cases) {
    t.equal(cleanText(text), expected, name);
    t.equal(cleanText(expected), expected, `${name}, again`);
  }
});

t.test('ROUTE-29 cut to bytes between graphemes', async (t) => {
  const cases: [string, number, string][] = [
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['abc', 0, ''],
    ['abc', -1, ''],
    ['é', 1, ''],
    ['aé', 2, 'a'],
    ['aé', 3, 'aé'],
    ['ae\u0301x', 3, 'a'],
    ['ae\u0301x', 4, 'ae\u0301'],
    ['a😀', 4, 'a'],
    ['a😀', 5, 'a😀'],
    [`a${family}b`, 25, 'a'],
    [`a${family}b`, 26, `a${family}`],
    ['🇧🇷🇩🇪', 12, '🇧🇷'],
  ];
  for (const [text, max, expected] of cases) t.equal(cutToBytes(text, max), expected, `${text} to ${max}`);
  t.equal(cutToBytes(family, 12), '👨\u200d👩', 'a grapheme too long by itself is cut between code points');
  const zalgo = `a${'\u0301'.repeat(100_000)}`;
  t.equal(cutToBytes(zalgo, 101), `a${'\u0301'.repeat(50)}`);
  t.equal(
    cutToBytes(`x ${zalgo}`, 101),
    'x ',
    'an endless grapheme is left out when there is text before it',
  );
});

t.test('ROUTE-29 a cut is the longest that fits, at every length', async (t) => {
  const text = `aé東${family}🇧🇷e\u0301\u0302z नमस्ते क्षि 👍🏽!`;
  const boundaries = [...new Intl.Segmenter('en').segment(text)].map((s) => text.slice(0, s.index));
  boundaries.push(text);
  for (let max = 0; max <= bytes(text) + 1; max++) {
    const whole = boundaries.findLast((beginning) => bytes(beginning) <= max)!;
    t.equal(cutToBytes(text, max), whole, `${max} bytes`);
    const byCharacters = boundaries.findLast((beginning) => Array.from(beginning).length <= max)!;
    t.equal(cutToCharacters(text, max), byCharacters, `${max} characters`);
  }
});

t.test('cut to characters', async (t) => {
  t.equal(cutToCharacters('x'.repeat(300), 200), 'x'.repeat(200));
  t.equal(cutToCharacters('😀'.repeat(300), 200), '😀'.repeat(200), 'an emoji is one character');
  t.equal(cutToCharacters('a😀', 1), 'a');
  t.equal(cutToCharacters('a😀', 2), 'a😀');
  t.equal(cutToCharacters('abc', 0), '');
  t.equal(cutToCharacters(`a${'\u0301'.repeat(100_000)}`, 100).length, 100);
});

t.test('ROUTE-29 cuts of huge texts cost what is kept, not what there is', async (t) => {
  const texts = ['日本語'.repeat(1e6), family.repeat(3e5), `${'e\u0301'.repeat(1e6)}`, 'x'.repeat(3e6)];
  // what this process computes, not how long it has to wait for the processor
  const computedFor = (texts: readonly string[]) => {
    const before = process.cpuUsage();
    for (const text of texts) {
      for (let i = 0; i < 100; i++) {
        cutToBytes(text, 400 + (i % 7));
        cutToCharacters(text, 200);
      }
    }
    return process.cpuUsage(before).user;
  };
  const short = computedFor(texts.map((text) => text.slice(0, 2_000)));
  const huge = computedFor(texts);
  t.ok(
    huge < 50 * short,
    `800 cuts: ${short} µs of short texts, ${huge} µs of texts a thousand times as long`,
  );
});

t.test('ROUTE-29 the budget is what the prefix leaves of 512 bytes', async (t) => {
  const sender = { mask: 'em-bot!em-bot@relay.example', channel: '#bounties' };
  const line = (text: string) => `:${sender.mask} PRIVMSG ${sender.channel} :${text}\r\n`;
  t.equal(bytes(line('x'.repeat(lineBudget(sender)))), 512);
  const text = cutToBytes('日'.repeat(400), lineBudget(sender));
  t.ok(bytes(line(text)) <= 512 && bytes(line(text)) > 509);
  t.equal(utf8.decode(Buffer.from(text)), text);
  const worst = {
    mask: `${'n'.repeat(30)}!${'u'.repeat(10)}@${'h'.repeat(64)}`,
    channel: `#${'c'.repeat(64)}`,
  };
  t.equal(lineBudget(worst), 327, 'a 30/10/64 mask and 64 characters after the #');
  t.equal(lineBudget({ mask: 'm'.repeat(600), channel: '#c' }), 0);
});

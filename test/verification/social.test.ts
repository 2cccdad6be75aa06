import t from 'tap';
import { textOfHtml } from '../../src/operations/verification/social/html-text.js';
import { parseAuthorAddress, parsePostAddress } from '../../src/operations/verification/social/post.js';
import { leastCpuMs } from '../support/cpu.js';

t.test('AGENT-07 addresses of posts', async (t) => {
  const post = { handle: 'Scout_1', url: 'https://twitter.com/Scout_1/status/190' };
  for (const good of [
    'https://x.com/Scout_1/status/190',
    'https://www.x.com/Scout_1/status/190',
    'https://mobile.x.com/Scout_1/status/190',
    'https://twitter.com/Scout_1/status/190',
    'https://www.twitter.com/Scout_1/status/190/',
    'https://mobile.twitter.com/Scout_1/status/190?s=20&t=abc',
    'HTTPS://X.COM/Scout_1/status/190#m',
    'https://x.com:443/Scout_1/status/190',
  ])
    t.same(parsePostAddress(good), post, good);
  for (const bad of [
    '',
    'x.com/Scout_1/status/190',
    'http://x.com/Scout_1/status/190',
    'ftp://x.com/Scout_1/status/190',
    'https://x.com:8443/Scout_1/status/190',
    'https://me@x.com/Scout_1/status/190',
    'https://x.com@evil.example/Scout_1/status/190',
    'https://x.com.evil.example/Scout_1/status/190',
    'https://evilx.com/Scout_1/status/190',
    'https://api.x.com/Scout_1/status/190',
    'https://x.com./Scout_1/status/190',
    'https://\u0445.com/Scout_1/status/190',
    'https://127.0.0.1/Scout_1/status/190',
    'https://x.com/Scout_1',
    'https://x.com/Scout_1/status/',
    'https://x.com/Scout_1/status/19a',
    'https://x.com/Scout_1/status/190/photo/1',
    'https://x.com/Scout_1/status/../status/190/x',
    'https://x.com/i/web/status/190',
    'https://x.com/a_handle_too_long/status/190',
    'https://x.com/Scout%5F1/status/190',
    'https://x.com/Scout_1/status/123456789012345678901',
    'https://x.com\\@evil.example/Scout_1/status/190',
    ' https://x.com/Scout_1/status/190',
    'https://x.com/Scout_1/sta\ttus/190',
    'javascript:alert(1)//x.com/Scout_1/status/190',
  ])
    t.equal(parsePostAddress(bad), undefined, bad);
  t.equal(parseAuthorAddress('https://twitter.com/Scout_1'), 'Scout_1');
  t.equal(parseAuthorAddress('https://x.com/Scout_1/'), 'Scout_1');
  for (const bad of [
    'https://evil.example/Scout_1',
    'http://x.com/Scout_1',
    'https://x.com/Scout_1/status/1',
    'https://x.com/',
    'nothing',
  ])
    t.equal(parseAuthorAddress(bad), undefined, bad);
});

t.test('AGENT-10 what HTML shows', async (t) => {
  const cases: [string, string][] = [
    ['plain', 'plain'],
    ['<p lang="en">a<br>b</p>', ' a b '],
    ['one<a href="https://t.co/x">two</a>three', 'onetwothree'],
    ['a &lt;b&gt; &amp;amp; &#91;&#x5D;&lsqb; &quot;&apos;', `a <b> &amp; [][ "'`],
    ['&nosuch; &#0; &#x110000; &#9999999; &amp', '&nosuch; \ufffd \ufffd \ufffd &amp'],
    ['&constructor;&toString;', '&constructor;&toString;'],
    ['a<!-- svc:verify --> b', 'a b'],
    ['a<!-- never closed', 'a'],
    ['<script>svc:verify</script>x', '  x'],
    ['<SCRIPT>svc:verify</Script >x', '  x'],
    ['<style>a{}</style><title>t</title>x', '    x'],
    ['<script>never closed', ' '],
    ['<p title="svc:verify > x">y</p>', ' y '],
    ["<p title='a\"b>c'>y", ' y'],
    ['<p title="never closed', ' '],
    ['1 < 2 <3 and a<', '1 < 2 <3 and a<'],
    ['<!doctype html><?xml?>x', 'x'],
    ['</ bogus>x', 'x'],
    // letters that are longer, or become ASCII, in lower case
    ['<p>İİİİİİ hello<!-- c --> svc:verify:alice:1a2b3c4d</p>', ' İİİİİİ hello svc:verify:alice:1a2b3c4d '],
    ['İİİ<SCRIPT>x</Script> <B>y</B> svc:verify', 'İİİ   y svc:verify'],
    ['İ<!doctype html>x', 'İx'],
    ['<\u212abd>x', '<\u212abd>x'],
  ];
  for (const [html, text] of cases) t.equal(textOfHtml(html), text, html);
});

t.test('AGENT-10 the longest answers take no time', async (t) => {
  const plain = '<p>some words, &amp; more</p>'.repeat(3_000).slice(0, 65_536);
  const plainMs = leastCpuMs(() => textOfHtml(plain));
  for (const piece of ['<', '<script>', '<!--', '<p title="', '&', '&#', "<a href='", '</script', 'a<b ']) {
    const html = piece.repeat(Math.floor(65_536 / piece.length));
    const ms = leastCpuMs(() => textOfHtml(html));
    t.ok(ms < 50 * plainMs, `${JSON.stringify(piece)}: ${ms} ms, usually ${plainMs} ms`);
  }
});

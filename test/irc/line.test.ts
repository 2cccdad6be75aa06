import t from 'tap';
import { Backoff } from '../../workers/irc/backoff.js';
import { commandAt, commandLine, commandOf, escapeTag, parseLine, rawTag } from '../../workers/irc/line.js';
import { Self } from '../../workers/irc/self.js';

t.test('tags and command of an unparsed line', async (t) => {
  const line =
    '@time=2026-01-01T00:00:00.000Z;msgid=a~1;label=2z;+svc/event=x\\s;y :n!u@h PRIVMSG #a :;label=no';
  t.equal(rawTag(line, 'time'), '2026-01-01T00:00:00.000Z');
  t.equal(rawTag(line, 'label'), '2z');
  t.equal(rawTag(line, '+svc/event'), 'x\\s');
  t.equal(rawTag(line, 'y'), undefined);
  t.equal(rawTag('@label=1 ACK', 'label'), '1');
  t.equal(rawTag('@x=1 :n PRIVMSG #a :;label=7 ', 'label'), undefined, 'not from the text');
  t.equal(rawTag('@+label=1;xlabel=2 ACK', 'label'), undefined, 'not from another tag');
  t.equal(rawTag(':n PRIVMSG #a :@label=1', 'label'), undefined);
  t.equal(line.slice(commandAt(line)).split(' ')[0], 'PRIVMSG');
  for (const text of ['PING x', ':s PING x', '@a=b PING x', '@a=b :s PING x', 'PING']) {
    t.equal(commandOf(text), 'PING', text);
  }
});

t.test('a tag value survives', async (t) => {
  for (const value of ['plain', 'a;b c\\d\r\n', '\\', 'é🎉', '']) {
    t.equal(parseLine(`@x=${escapeTag(value)} ACK`).tags.x, value, JSON.stringify(value));
    t.notMatch(escapeTag(value), /[; \r\n\0]/);
  }
  t.equal(escapeTag('a\0b'), 'ab');
});

t.test('the parts of a command are one line or an error', async (t) => {
  t.equal(commandLine(['MODE', '#a', '+v', 'nick']), 'MODE #a +v nick');
  t.equal(commandLine(['TOPIC', '#a', 'two words']), 'TOPIC #a :two words');
  t.equal(commandLine(['TOPIC', '#a', '']), 'TOPIC #a :');
  t.equal(commandLine(['TOPIC', '#a', ':)']), 'TOPIC #a ::)');
  for (const parts of [
    [],
    [''],
    ['TOPIC\r\nQUIT'],
    ['A B'],
    ['TOPIC', '#a\n', 'x'],
    ['TOPIC', '#a', 'x\0'],
    ['TOPIC', '', 'x'],
    ['TOPIC', '#a b', 'x'],
    ['TOPIC', ':a', 'x'],
    ['TOPIC', '#a', 'é'.repeat(251)],
  ]) {
    t.throws(() => commandLine(parts), TypeError, JSON.stringify(parts).slice(0, 40));
  }
});

t.test('the mask is the widest possible until the server shows it', async (t) => {
  const self = new Self('bot', 10, 63);
  t.equal(self.mask.length, 'bot!'.length + 10 + 1 + 63);
  self.see(parseLine(':other!u@h JOIN #a'));
  t.equal(self.isIn('#a'), false);
  self.see(parseLine(':bot!user@host.example JOIN #A'));
  t.equal(self.mask, 'bot!user@host.example');
  t.equal(self.isIn('#a'), true);
  self.see(parseLine(':s 396 bot cloaked :is now your host'));
  t.equal(self.mask.length, 'bot!'.length + 10 + 1 + 63, 'the host has changed, to what is not known');
  self.see(parseLine(':s 381 bot :You are now an operator'));
  t.equal(self.oper, true);
  self.see(parseLine(':bot MODE bot +N-s'));
  t.equal(self.oper, true);
  self.see(parseLine(':s MODE bot +w-No'));
  t.equal(self.oper, false);
});

t.test('the pause before the next attempt', async (t) => {
  const fault = { livedMs: 0, rejected: false };
  const backoff = new Backoff();
  t.equal(backoff.next({ livedMs: 5, rejected: false }, 0), 50, 'quick at first');
  t.equal(backoff.next(fault, 0), 300);
  t.equal(backoff.next(fault, 0), 1_000);
  t.equal(backoff.next(fault, 0.999), 1_899.1);
  for (let n = 0; n < 100; n++) backoff.next(fault, 0);
  t.equal(backoff.next(fault, 0), 4_000, 'patient after minutes');
  t.equal(backoff.next({ livedMs: 5, rejected: false }, 0), 50, 'and quick again after a session');

  const rejected = { livedMs: 10, rejected: true };
  t.same(
    Array.from({ length: 7 }, () => backoff.next(rejected, 1)),
    [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
  );
  t.equal(backoff.next({ livedMs: 60_000, rejected: true }, 0), 1_000, 'forgotten after a stable session');
});

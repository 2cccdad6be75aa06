import t from 'tap';
import { ircSubject, lineId, parseLineId, type Sighting } from '../../streams/network/index.js';
import { parameterOf } from '../../workers/irc/join-answers.js';
import { parseLine } from '../../workers/irc/line.js';
import { type CatchUp, catchUp, reachOf } from '../../workers/network/catch-up.js';
import { changedModes, lineOf, Room } from '../../workers/network/room.js';

const line = (at: number, msgid = `m${at}`) => ({
  is: 'message' as const,
  at,
  nick: 'a',
  text: `${at}`,
  msgid,
});
const now = 1_000_000;
/** Recorded up to 500,000, a quiet history that is whole, and a server that has long been up. */
const usual: CatchUp = {
  known: { at: 400_100, msgid: 'm400100' },
  recordedUntil: 400_100,
  seenUntil: 500_000,
  isSure: true,
  upSince: 0,
  history: { lines: [line(300_000), line(400_100), line(600_000)], reachesBack: 0 },
  now,
};
const ends = (seen: Sighting[]) => seen.map((one) => (one.is === 'gap' ? [one.from, one.to] : one.at));

t.test('IRC-03 what comes behind the last recorded line was missed', async (t) => {
  t.same(ends(catchUp(usual)), [600_000]);
  t.same(ends(catchUp({ ...usual, upSince: 999_999 })), [600_000], 'the history proves itself to be whole');
  const fresh = { ...usual, known: undefined, recordedUntil: undefined };
  t.same(ends(catchUp(fresh)), [300_000, 400_100, 600_000], 'all of it in a channel never seen before');
  t.same(ends(catchUp({ ...fresh, history: null })), []);
  const aged = { ...usual, history: { lines: [line(600_000)], reachesBack: 450_000 } };
  t.same(
    ends(catchUp(aged)),
    [600_000],
    'the known line is too old for the history, which reaches back far enough',
  );
  const sameSecond = { ...usual, history: { lines: [line(400_000, 'x'), line(600_000)], reachesBack: 0 } };
  t.same(ends(catchUp(sameSecond)), [400_000, 600_000], 'histories keep whole seconds');
});

t.test('IRC-04 a gap where the history cannot tell', async (t) => {
  const from = 500_000;
  t.same(ends(catchUp({ ...usual, history: null })), [[from, now]], 'none');
  const full = { lines: [line(700_000), line(800_000)], reachesBack: 700_000 };
  t.same(ends(catchUp({ ...usual, history: full })), [[from, 700_000], 700_000, 800_000], 'too short');
  const lost = { lines: [line(900_000)], reachesBack: 0 };
  t.same(ends(catchUp({ ...usual, history: lost, upSince: 850_000 })), [[from, 852_000], 900_000], 'lost');
  t.same(ends(catchUp({ ...usual, history: lost, upSince: 999_500 })), [[from, now], 900_000]);
  t.same(
    ends(catchUp({ ...usual, history: lost, upSince: undefined })),
    [[from, now], 900_000],
    'nobody knows',
  );
});

t.test('IRC-04 a line that nobody recorded shows that not everything was seen', async (t) => {
  const full = { lines: [line(450_000), line(800_000)], reachesBack: 451_000 };
  t.same(ends(catchUp({ ...usual, history: full })), [[400_100, 451_000], 450_000, 800_000]);
  const sameSecond = { lines: [line(499_500), line(800_000)], reachesBack: 500_500 };
  t.same(ends(catchUp({ ...usual, history: sameSecond })), [[500_000, 500_500], 499_500, 800_000]);
  const late = { lines: [line(800_000)], reachesBack: 801_000 };
  t.same(
    ends(catchUp({ ...usual, history: late, isSure: false })),
    [[400_100, 801_000], 800_000],
    'a recorder before this one may have seen more than it could record',
  );
});

t.test('IRC-04 how far back a history reaches', async (t) => {
  t.equal(reachOf('100:1d', null, 100_000_000), 100_000_000 - 86_400_000);
  t.equal(reachOf('100:1h30m', null, 100_000_000), 100_000_000 - 5_400_000);
  t.equal(reachOf('50:60', new Date(99_990_000), 100_000_000), 99_991_000, 'that second is over');
  t.equal(reachOf('100:0', null, 100_000_000), 0);
  t.equal(reachOf(undefined, null, 100_000_000), 0);
});

const names = {
  channelModes: ['Ibe', 'k', 'HJLfjl', 'imnPst'],
  prefixes: [
    { symbol: '@', mode: 'o' },
    { symbol: '+', mode: 'v' },
  ],
};

t.test('IRC-04 the bounds of a history are those of its own mode', async (t) => {
  const others = { ...names, channelModes: ['Ibe', 'k', 'FHJLfjl', 'imnPst'] };
  t.equal(parameterOf(others, '+FHnt 5:10 100:1d', 'H'), '100:1d');
  t.equal(parameterOf(others, '+Hkl 100:1d key 5', 'H'), '100:1d');
  t.equal(parameterOf(others, '+nt', 'H'), undefined);
});

t.test('IRC-01 modes of the channel itself, without those of lists and members', async (t) => {
  t.equal(changedModes('', '+ntH 100:1d', names), 'Hnt');
  t.equal(changedModes('Hnt', '-n+ib-v *!*@* bob', names), 'Hit');
  t.equal(changedModes('Hkt', '-kH secret', names), 't');
  t.equal(changedModes('', '', names), '');
});

t.test('IRC-01 a room knows who is in it', async (t) => {
  const room = new Room('#a', { members: ['@Bob', '+@eve', 'relay'], topic: '', lines: [] }, '+nt', names);
  const see = (text: string) => room.see(parseLine(text), 7);
  t.ok(room.has('bOB') && room.has('eve'));
  t.match(see('@account=bob :Bob!b@h NICK rob'), {
    is: 'nick',
    nick: 'Bob',
    to: 'rob',
    account: 'bob',
    at: 7,
  });
  t.match(see(':new!n@h JOIN #a acc :Real Name'), { is: 'join', nick: 'new', account: 'acc', host: 'n@h' });
  t.match(see(':x!x@h JOIN #a * :Real Name'), { is: 'join', nick: 'x', account: undefined });
  t.equal(see(':Bob!b@h QUIT :not here'), undefined);
  t.equal(see(':irc.server 366 relay #a :End'), undefined);
  see(':eve!e@h PART #a');
  t.match(room.snapshot(8), { members: ['relay', '@rob', 'new', 'x'], modes: 'nt', topic: '' });
  t.match(see(':irc.server MODE #a +s'), { is: 'mode', nick: 'irc.server', change: '+s', modes: 'nst' });
  const said = (text: string) => lineOf(parseLine(`:a!b@c PRIVMSG #a :${text}`), 1);
  t.match(said('\x01ACTION dances\x01'), { is: 'action', text: 'dances' });
  t.match(said('\x01VERSION\x01'), { is: 'message', text: '\x01VERSION\x01' });
  t.match(said(''), { is: 'message', text: '' });
});

t.test('IRC-01 subjects and ids', async (t) => {
  t.equal(ircSubject('#Task-1'), 'irc.task-1');
  t.equal(ircSubject('#A[b]'), ircSubject('#a{B}'));
  for (const name of ['#a.b', '#*', '#>', '#ü', '##', '#', '#~x', `#${'x'.repeat(199)}`]) {
    t.match(ircSubject(name), /^irc\.~[\w-]*$/, name);
  }
  t.same(parseLineId(lineId(12, 3)), { seq: 12, index: 3 });
  for (const id of ['', '1', '1-', '-1', '1-2-3', 'x', '1-x', '9'.repeat(16)])
    t.equal(parseLineId(id), undefined);
});

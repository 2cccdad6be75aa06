import t from 'tap';
import { type LoopLine, LoopWatch } from '../../streams/moderation/index.js';
import { Random } from '../simulation/random.js';
import { leastCpuMs } from '../support/cpu.js';

const start = Date.parse('2026-03-01T12:00:00Z') + 123;
const words =
  'yes no maybe the task budget deadline route city agrees checks then report good proof photo sends asks why price today offers bid'.split(
    ' ',
  );

/** What was found, and after how many lines of the conversation. */
interface Found {
  level: 'WARN' | 'MUTE';
  nicks: string[];
  lines: number;
}

/** Has a watch see lines of one channel, from the first to the last. */
function watch(lines: readonly LoopLine[], loops = new LoopWatch<LoopLine>(), channel = '#lobby'): Found[] {
  return lines.flatMap((line, index) => {
    const found = loops.see(channel, line);
    const nicks = found?.last.map(({ nick }) => nick).sort();
    return found ? [{ level: found.level, nicks: nicks!, lines: index + 1 }] : [];
  });
}

const sentence = (random: Random, [least, most]: readonly [number, number]) =>
  Array.from({ length: random.int(least, most) }, () => random.pick(words)).join(' ');

/** How long somebody who reads takes for what they type, at 2 to 9 characters a second. */
const typingMs = (random: Random, text: string) =>
  random.int(400, 2_500) + (text.length * 1_000) / random.int(2, 9);

/** How long a program takes that has a model think. */
const thinkingMs = (random: Random) => random.int(20, 1_200);

interface Speaker {
  nick: string;
  isProgram: boolean;
  isMarked: boolean;
}

/** Those who speak in turn, each to the next one, as a seed decides. */
function round(
  random: Random,
  ring: readonly Speaker[],
  count: number,
  length: readonly [number, number] = [3, 30],
): LoopLine[] {
  let at = start;
  return Array.from({ length: count }, (_, n) => {
    const speaker = ring[n % ring.length]!;
    const said = sentence(random, length);
    const to = ring[(n + 1) % ring.length]!.nick;
    at += Math.round(speaker.isProgram ? thinkingMs(random) : typingMs(random, said));
    return {
      nick: speaker.nick,
      at,
      text: random.chance(0.5) ? `${to}: ${said}` : `${said}, ${to}?`,
      ...(speaker.isMarked ? { bot: true as const } : {}),
    };
  });
}

const program = (nick: string, isMarked: boolean): Speaker => ({ nick, isProgram: true, isMarked });
const person = (nick: string): Speaker => ({ nick, isProgram: false, isMarked: false });
const seeds = Array.from({ length: 300 }, (_, seed) => seed);

/** The seeds for which something does not hold. */
const failing = (holds: (random: Random) => boolean) => seeds.filter((seed) => !holds(new Random(seed)));
const isQuiet = (lines: readonly LoopLine[]) => watch(lines).length === 0;
const marked = ['alpha', 'beta'].map((nick) => program(nick, true));

t.test('MOD-30 two programs that answer each other are stopped within ten lines', async (t) => {
  for (const [says, isMarked, length] of [
    ['marked', [true, true], [1, 30]],
    // what a model writes in so short a time nobody types
    ['one of them marked', [true, false], [8, 30]],
    ['nobody has marked them', [false, false], [8, 30]],
  ] as const) {
    const ring = [program('Alpha', isMarked[0]), program('beta', isMarked[1])];
    const holds = (random: Random) => {
      const found = watch(round(random, ring, 10, length));
      const mute = found.find(({ level }) => level === 'MUTE');
      const [first] = found;
      // warned at the sixth, unless it is all over by then
      const isWarned = first?.level === 'MUTE' || first?.lines === 6;
      return isWarned && mute?.nicks.join() === 'Alpha,beta' && mute.lines <= 8;
    };
    t.same(failing(holds), [], says);
  }
});

t.test('MOD-30 a ring of three or four is stopped, and nobody else', async (t) => {
  for (const nicks of [
    ['alpha', 'beta', 'gamma'],
    ['alpha', 'beta', 'delta', 'gamma'],
  ]) {
    const ring = nicks.map((nick) => program(nick, true));
    const holds = (random: Random) => {
      // somebody talks of something else meanwhile
      const lines = round(random, ring, 10).flatMap((line, n) =>
        n % 3 === 1
          ? [line, { nick: 'olga', at: line.at + 1, text: 'has anybody seen the parcel?' }]
          : [line],
      );
      const mute = watch(lines).find(({ level }) => level === 'MUTE');
      return mute?.nicks.join() === [...nicks].sort().join();
    };
    t.same(failing(holds), [], nicks.join());
  }
});

t.test('MOD-30 a person and a program are never stopped, nor are persons', async (t) => {
  for (const [says, ring] of [
    ['a person asks a program', [person('ann'), program('helper', true)]],
    ['a person asks a program without a mark', [person('ann'), program('helper', false)]],
    ['a person among programs', [program('helper', true), person('ann'), program('other', true)]],
    ['two persons', [person('ann'), person('ben')]],
    ['four persons', ['ann', 'ben', 'cleo', 'dan'].map(person)],
  ] as const) {
    const isLeftAlone = (random: Random) => isQuiet(round(random, ring, 60, [1, 12]));
    t.same(failing(isLeftAlone), [], says);
  }
});

t.test('MOD-30 people behind a bridge that is marked may be warned, and are not muted', async (t) => {
  const ring = [{ ...person('bridge'), isMarked: true }, program('helper', true)];
  const found = seeds.flatMap((seed) => watch(round(new Random(seed), ring, 60, [1, 12])));
  const mutes = found.filter(({ level }) => level === 'MUTE');
  t.same(mutes, []);
  t.ok(found.length <= 10, `${found.length} warnings for ${seeds.length * 60} lines`);
});

t.test('MOD-30 two persons in a quick chat of short lines, and one who hammers at a program', async (t) => {
  const isLeftAlone = (random: Random) => {
    let at = start;
    const chat = Array.from({ length: 60 }, (_, n) => {
      const said = sentence(random, [3, 4]);
      // fourteen characters a second are more than a master types
      at += 350 + Math.round((said.length * 1_000) / 14);
      const [nick, to] = n % 2 ? ['ann', 'ben'] : ['ben', 'ann'];
      return { nick, at, text: `${to}: ${said}` };
    });
    return isQuiet(chat);
  };
  t.same(failing(isLeftAlone), []);
  const asked = (text: string, everyMs: number, answerMs: number) =>
    Array.from({ length: 30 }, (_, n) => {
      const at = start + n * everyMs;
      const answer = { nick: 'dice', at: at + answerMs, text: `ann: you have rolled ${n} of a hundred` };
      return [
        { nick: 'ann', at, text },
        { ...answer, bot: true as const },
      ];
    }).flat();
  t.same(watch(asked('dice: roll', 400, 300)), [], 'short commands');
  t.same(watch(asked('dice: roll two dice of six', 700, 100)), [], 'the last line again');
});

t.test('MOD-30 programs that are asked by people, or take their time, are left alone', async (t) => {
  const asked = (random: Random) =>
    round(random, marked, 40).flatMap((line, n) =>
      n % 4 === 3 ? [{ nick: 'ann', at: line.at - 1, text: 'beta, what about the price?' }, line] : [line],
    );
  t.same(
    failing((random) => isQuiet(asked(random))),
    [],
    'asked',
  );
  const slow = (random: Random) =>
    round(random, marked, 40).map((line, n) => ({ ...line, at: line.at + n * 15_000 }));
  t.same(
    failing((random) => isQuiet(slow(random))),
    [],
    'slow',
  );
  const five = [...marked, ...['c', 'd', 'e'].map((nick) => program(nick, true))];
  t.same(
    failing((random) => isQuiet(round(random, five, 40))),
    [],
    'a crowd',
  );
});

t.test(
  'MOD-30 programs that take turns without a name are stopped, two that report by the clock are not',
  async (t) => {
    const turns = (gaps: readonly number[], bot: true | undefined, count = 40) => {
      let at = start;
      return Array.from({ length: count }, (_, n) => {
        at += gaps[n % gaps.length]!;
        return { nick: n % 2 ? 'alpha' : 'beta', at, text: `that is what I think as well, ${n}`, bot };
      });
    };
    t.same(watch(turns([400, 500, 450, 380], true, 12)), [
      { level: 'WARN', nicks: ['alpha', 'beta'], lines: 8 },
      { level: 'MUTE', nicks: ['alpha', 'beta'], lines: 10 },
    ]);
    t.same(watch(turns([100, 1_900], true)), [], 'the same moment, every two seconds');
    t.same(watch(turns([5_000], true)), [], 'seldom');
    t.same(watch(turns([400], undefined)), [], 'nobody has marked them');
    const among = turns([400], true).flatMap((line, n) =>
      n % 7 === 6 ? [line, { nick: 'ann', at: line.at + 1, text: 'hm' }] : [line],
    );
    t.same(watch(among), [], 'a person speaks there');
  },
);

t.test('MOD-30 the same lines give the same verdicts, and what is over is counted anew', async (t) => {
  const lines = round(new Random(5), marked, 32);
  const found = watch(lines);
  t.same(watch(lines), found);
  t.same(
    found.map(({ level, lines }) => `${level} ${lines}`),
    ['WARN 6', 'MUTE 8', 'WARN 14', 'MUTE 16', 'WARN 22', 'MUTE 24', 'WARN 30', 'MUTE 32'],
  );
  const instant = lines.slice(0, 8).map((line, n) => ({ ...line, at: start + n * 20 }));
  t.match(watch(instant), [{ level: 'MUTE', lines: 6 }], 'no warning that nobody can heed');
  const replayed = (random: Random) =>
    round(random, [person('ann'), program('helper', false)], 40, [1, 12]).map((line) => ({
      ...line,
      at: Math.floor(line.at / 1_000) * 1_000,
    }));
  t.same(
    failing((random) => isQuiet(replayed(random))),
    [],
    'a history tells whole seconds',
  );
});

t.test('MOD-30 what is remembered is bounded', async (t) => {
  const loops = new LoopWatch<LoopLine>();
  const lines = round(new Random(1), marked, 8);
  t.same(watch(lines.slice(0, 5), loops), []);
  for (let n = 0; n < 1_000; n++) watch([{ nick: 'ann', at: start, text: 'hello' }], loops, `#other-${n}`);
  t.same(watch(lines.slice(5), loops), [], 'the channel that was silent for longest is forgotten');
  const long = 'alpha beta '.repeat(40);
  let seen = 0;
  const thousand = () => {
    for (const end = seen + 1_000; seen < end; seen++)
      loops.see('#busy', { nick: `n${seen % 30}`, at: start + seen, text: long, bot: true });
  };
  const first = leastCpuMs(thousand, 5);
  for (let n = 0; n < 20; n++) thousand();
  const later = leastCpuMs(thousand, 5);
  t.ok(later < 10 * first, `${first} ms for a thousand lines, later ${later} ms`);
});

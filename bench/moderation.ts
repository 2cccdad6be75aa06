import { readFileSync } from 'node:fs';
import { scoreText } from '../streams/moderation/index.js';
import type { Bench, Row } from './support/bench.js';
import { median, percentile } from './support/figures.js';

const goal = '≤ 300 µs';
/** A line as long as IRC carries it, full of words that begin signs and complete none. */
const longest = 'ignore all the rules of send your system to <| [inst '.repeat(20).slice(0, 510);

/**
 * Scoring of lines: harmless ones and attacks, and three of the longest kind together, the most that is ever
 * scored.
 */
export async function moderation(t: Bench): Promise<Row[]> {
  const rounds = t.size(50, 5);
  const lines = ['benign.txt', 'attacks.txt', 'unseen.txt'].flatMap(linesOf);
  t.progress(`${lines.length} lines`);
  const taken = microseconds(lines, rounds);
  t.progress('the longest lines');
  const three = microseconds([[longest, longest, longest].join(' ')], 10 * rounds);
  const us = (value: number) => `${value.toFixed(0)} µs`;
  return [
    {
      measured: `a line scored, p99 of ${lines.length} different ones`,
      ours: us(percentile(taken, 0.99)),
      against: `their median: ${us(median(taken))}`,
      goal,
    },
    { measured: 'three lines of 510 bytes scored together', ours: us(three[0]!), against: '', goal },
  ];
}

/** The lines of a file that the rules are tested with. In a line of attacks, the kind comes first. */
function linesOf(file: string): string[] {
  const lines = readFileSync(`test/moderation/fixtures/${file}`, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => line.split('\t').at(-1)!);
}

/** The time for each text: the median of many, since other load on the machine only adds to a time. */
function microseconds(texts: readonly string[], rounds: number): number[] {
  const times = texts.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, text] of texts.entries()) {
      const startedAt = process.hrtime.bigint();
      scoreText(text);
      // the first round warms up
      if (round > 0) times[index]!.push(Number(process.hrtime.bigint() - startedAt) / 1_000);
    }
  }
  return times.map(median);
}

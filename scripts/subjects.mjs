// Checks subjects of commits, one a line: `git log --no-merges --format=%s main..HEAD | node scripts/subjects.mjs`. A
// subject has at most 72 characters, and none of the words over which readers stumble.
import { readFileSync } from 'node:fs';
import { unwanted } from './prose-words.mjs';

/** Longer subjects are cut where lists of commits are shown, in characters. */
const longest = 72;

for (const subject of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const problems = unwanted.flatMap(({ pattern, instead }) => {
    const [found] = pattern.exec(subject) ?? [];
    return found === undefined ? [] : [`"${found}": ${instead}`];
  });
  if (subject.length > longest) problems.push(`${subject.length} characters, ${longest} at most`);
  for (const problem of problems) console.error(`${subject}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

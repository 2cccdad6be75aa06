/** How many letters are too many, missing, wrong or swapped with their neighbour between two words. */
function spellingDistance(a: string, b: string): number {
  // one row for each letter of `a`: the distances of what comes before it to every beginning of `b`
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const wrong = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          rows[i - 1]![j]! + 1,
          row[j - 1]! + 1,
          rows[i - 1]![j - 1]! + wrong,
          swapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/**
 * The known word that a word was probably meant to be: one typo apart, or two where the known word has ten letters or more.
 * `undefined` when no word is so near.
 */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const mostOf = (candidate: string) => (candidate.length < 10 ? 1 : 2);
  const near = known
    .filter((candidate) => Math.abs(candidate.length - word.length) <= mostOf(candidate))
    .map((candidate) => ({ candidate, distance: spellingDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= mostOf(candidate));
  return near.sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

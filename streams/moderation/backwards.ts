/** Some of the words that matter here, written backwards. */
const backwards =
  /\b(?:erongi|dragersid|tegrof|edirrevo|laever|snoitcurtsni|tpmorp|stpmorp|selur|terces|drowssap|metsys|worcse|esaeler|refsnart|tnemyap|tellaw|etavirp)\b/;
/** Where one field or sentence of a line ends. */
const borders = / [|>/-]{1,3} |[.,;:!?"()[\]{}]{1,4} ?/;

/**
 * What a folded text says when it is read from the right: each word, all of it, and each piece that is written
 * so. A line is put together from several fields. Empty if nothing is written backwards.
 */
export function fromTheRight(folded: string): string[] {
  if (!backwards.test(folded)) return [];
  const words = folded.split(' ').map(reversed);
  const pieces = folded.split(borders).map((piece) => ({ piece, isBackwards: backwards.test(piece) }));
  const turned = pieces.map(({ piece, isBackwards }) => (isBackwards ? reversed(piece) : piece));
  return [
    words.join(' '),
    words.toReversed().join(' '),
    turned.join(' '),
    turned.filter((_, index) => pieces[index]!.isBackwards).join(' '),
  ];
}

/** A text from its end to its start. */
export function reversed(text: string): string {
  return [...text].reverse().join('');
}

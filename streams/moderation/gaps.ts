import { reversed } from './backwards.js';

const spelled = /(?<![a-z0-9])[a-z](?:[ ._/\\|*+~=:;,#&<>()[\]{}"'-]{1,3}[a-z](?![a-z0-9])){4,}/g;
const inside =
  /(?<=[a-z0-9])(?:[_./\\|*+~=:;,#&<>()[\]{}"-]{1,3}|'(?!(?:t|s|re|ve|ll|d|m)(?![a-z])))(?=[a-z])|(?<=[a-z])[_./\\|*+~=:;,#&<>()[\]{}"-]{1,3}(?=\d)/g;
const hasInside = /[a-z\d][^a-z\d ]{1,3}[a-z\d]/;
/** The words that are looked for where the gaps between words were lost. */
const vocabulary =
  /ignore|disregard|forget|override|bypass|reveal|repeat|print|show|send|transfer|approve|release|all|any|your|the|these|my|me|previous|prior|above|earlier|system|instructions?|prompts?|rules?|guidelines?|private|secret|key|seed|phrase|password|escrow|payment|wallet|funds|you|are|now/g;
/** Letters in a row that are more than most words have. */
const longestUsual = 13;
const runTogether = /[a-z]{14,}/g;
const leastWords = 3;
/** Of the letters in a row, so many may belong to none of the words: one of so many. */
const unknownOneOf = 4;

/** Words that were spelled with gaps between their letters, joined again; `undefined` when there are none. */
export function joined(folded: string): string | undefined {
  const read = folded.replace(spelled, (letters) =>
    letters
      // a sign between letters, so that a space is where a word ends
      .split(/[a-z][^a-z ]+[a-z]/.test(letters) ? / +/ : / {2,3}/)
      .map((word) => word.replace(/[^a-z]+/g, ''))
      .join(' ')
      .replace(vocabulary, ' $& '),
  );
  return read === folded ? undefined : read;
}

/** Words with signs between their letters, without the signs; `undefined` when there are none. */
export function withoutSigns(folded: string): string | undefined {
  // costs less than to look for the signs themselves
  if (!hasInside.test(folded)) return undefined;
  const read = folded.replace(inside, '');
  return read === folded ? undefined : read;
}

/** Words that were written without any gap, from the left or the right, apart; `undefined` when there are none. */
export function parted(folded: string): string | undefined {
  if (!hasLongRun(folded)) return undefined;
  const read = folded.replace(runTogether, (run) => wordsIn(run) ?? wordsIn(reversed(run)) ?? run);
  return read === folded ? undefined : read;
}

/** Looks at few of the characters: a row that is long enough has a letter in each place that is looked at. */
function hasLongRun(text: string): boolean {
  for (let end = longestUsual; end < text.length; ) {
    let start = end;
    while (end - start <= longestUsual && isLetter(text.charCodeAt(start))) start -= 1;
    if (end - start > longestUsual) return true;
    end = start + longestUsual + 1;
  }
  return false;
}

const isLetter = (code: number): boolean => code >= 97 && code <= 122;

function wordsIn(run: string): string | undefined {
  const words = run.match(vocabulary) ?? [];
  const known = words.reduce((sum, word) => sum + word.length, 0);
  if (words.length < leastWords || (run.length - known) * unknownOneOf > run.length) return undefined;
  return run.replace(vocabulary, ' $& ');
}

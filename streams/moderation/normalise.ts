import { isLatinLookalike, latinOf, smallCapitals, unmarked } from '../lookalikes.js';
import { fromTheRight } from './backwards.js';
import { unescaped } from './escapes.js';
import { joined, parted, withoutSigns } from './gaps.js';

/** Readings of one text: the same words however they were dressed up, and what was packed into it. */
export interface Readings {
  /** Lower case, one space between words, without marks, formatting and invisible characters. */
  plain: string;
  /** Other readings that differ from `plain`: digits read as letters, spelled-out words joined, words that hang together apart. */
  others: string[];
  /** Texts that were packed into it: Base64, hexadecimal, tag characters, letters shifted by 13, words written backwards. */
  unpacked: string[];
  /** Characters that nobody sees, and words that mix alphabets. */
  hidden: number;
}

/** Three lines of IRC. What lies beyond is not read, so that no text costs more than this one. */
export const longestRead = 1_600;
const longestUnpacked = 800;

const plainAscii = /^[ -~]*$/;
const formatting =
  /\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[\da-f]{6}(?:,[\da-f]{6})?)?|[\x00-\x02\x05-\x08\x0b-\x1f\x7f]/gi;
/** Invisible, but for what holds emoji together. */
const invisible =
  /(?!(?<=\p{ExtPict}\uFE0F?)\u200D(?=\p{ExtPict})|(?<=\p{Emoji})\uFE0F)[\p{DI}\p{NChar}\u2028\u2029\uFFF9-\uFFFB]/gu;
const tagLetters = /[\u{E0020}-\u{E007E}]+/gu;
/** Base64, and hexadecimal with it. */
const packed = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}/g;
/** Some of the words that matter here, shifted by 13. */
const shifted =
  /\b(?:vtaber|qvfertneq|sbetrg|erirny|vafgehpgvbaf?|cebzcg|cevingr xrl|frrq cuenfr|flfgrz|lbhe?|jnyyrg|rfpebj|eryrnfr|cnlzrag)\b/;
/** Signs of other alphabets, and pictures: they part letters and words as the signs of ASCII do. */
const foreignSigns = /[^\p{L}\p{N}\s\x00-\x7f]/gu;
/** Escapes within escapes are read, and no others in those. */
const deepest = 2;

/** Reads a text in all the ways in which a model might. Its time is bounded by `longestRead`. */
export function readingsOf(text: string, depth = 0): Readings {
  const read = text.slice(0, longestRead);
  const unpacked: string[] = [];
  let hidden = 0;
  let visible = read;
  if (!plainAscii.test(read)) {
    for (const [letters] of read.matchAll(tagLetters)) unpacked.push(untagged(letters));
    visible = read.replace(formatting, '').replace(invisible, () => {
      hidden += 1;
      return '';
    });
    if (!plainAscii.test(visible)) {
      visible = visible.replace(smallCapitals, latinOf).replace(/[\p{L}\p{M}]+/gu, (word) => {
        if (!isLatinLookalike(word)) return word;
        hidden += 1;
        return [...word].map(latinOf).join('');
      });
    }
  }
  for (const run of visible.match(packed) ?? []) {
    const inside = unpack(run);
    if (inside !== undefined && unpacked.length < 4) unpacked.push(inside);
  }
  const cased = unmarked(visible);
  const folded = cased.toLowerCase();
  const plain = spaced(folded);
  if (shifted.test(plain)) unpacked.push(plain.replace(/[a-z]/g, shiftBack));
  const signed = plainAscii.test(cased) ? cased : cased.replace(foreignSigns, '/');
  const lowered = signed === cased ? folded : signed.toLowerCase();
  const apart = takenApart(signed, cased);
  const whole = withoutSigns(lowered);
  const others = [
    undigited(plain),
    joined(lowered),
    apart,
    apart && undigited(apart),
    whole,
    whole && undigited(whole),
    parted(whole ?? plain),
  ].filter((reading) => reading !== undefined);
  for (const reading of [plain, ...others]) unpacked.push(...fromTheRight(reading));
  const meant = depth < deepest ? unescaped(visible) : undefined;
  if (meant !== undefined) {
    const inner = readingsOf(meant, depth + 1);
    others.push(inner.plain, ...inner.others);
    unpacked.push(...inner.unpacked);
  }
  return {
    plain,
    others: others.length > 1 ? [...new Set(others.map(spaced))] : others.map(spaced),
    unpacked: unpacked.map((one) => one.slice(0, longestUnpacked)),
    hidden,
  };
}

function untagged(letters: string): string {
  return [...letters].map((letter) => String.fromCharCode(letter.codePointAt(0)! - 0xe0000)).join('');
}

/** What a run of Base64 or hexadecimal digits says, if it says something in words. */
function unpack(run: string): string | undefined {
  const encoding = /^(?:[0-9a-f]{2})+$/i.test(run) ? 'hex' : 'base64';
  const said = Buffer.from(run.slice(0, 2 * longestUnpacked), encoding).toString('utf8');
  const words = said.match(/[\p{L}]{2,}/gu) ?? [];
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return /^[^\p{Cc}\uFFFD]+$/u.test(said) && words.length >= 2 && letters * 2 >= said.length
    ? said
    : undefined;
}

const digitLetters: Record<string, string> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
};

const hasDigitAtLetter = /[a-z][0134578@$!|]|[\d@$!|][a-z]/;

/** Words in which digits take the place of letters, with the letters; `undefined` when there are none. */
function undigited(plain: string): string | undefined {
  // costs less than to look for the words themselves
  if (!hasDigitAtLetter.test(plain)) return undefined;
  const read = plain.replace(
    /(?<![\w@$!|])(?=[a-z@$!|]*[0134578@$!|])(?=[\d@$!|]{0,8}[a-z])[a-z0134578@$!|]{3,24}(?!\w)/g,
    (word) =>
      /^[a-z]+!+$/.test(word) ? word : word.replace(/[0134578@$!|]/g, (sign) => digitLetters[sign]!),
  );
  return read === plain ? undefined : read;
}

/** Where words meet without a space: at a capital, at signs between letters, at signs that are alone, at quotes. */
const seams = /(?<=[a-z])(?=[A-Z])|(?<=[A-Z]{2})(?=[a-z]{3})/g;
/** Costs less than to look for the places themselves, which few texts have. */
const hasSeam = /[a-z][A-Z]|[A-Z]{2}[a-z]{3}/;
const signs =
  /(?<=[A-Za-z0-9])(?:[_./\\|*+~=:;,#&<>()[\]{}"-]{1,6}| [_/\\|*+~=>"-]{1,3} |[_/*|~"'()<>[\]{}]{1,3} [_/*|~"'()<>[\]{}]{1,3})(?=[A-Za-z0-9])/g;

/** Words that hang together by signs or capitals, apart and in lower case; `undefined` when there are none. */
function takenApart(signed: string, cased: string): string | undefined {
  const opened = signed.replace(signs, ' ');
  const read = hasSeam.test(opened) ? opened.replace(seams, ' ') : opened;
  return read === cased ? undefined : spaced(read.toLowerCase()).slice(0, longestRead);
}

/** With one space between words, which most texts have already, and none around them. */
function spaced(text: string): string {
  return (/[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, ' ') : text).trim();
}

function shiftBack(letter: string): string {
  return String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97);
}

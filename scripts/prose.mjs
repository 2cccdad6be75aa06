// Checks the prose of documents, and of comments and texts in sources and settings: `npm run check:prose`. A sentence has
// at most 30 words, and some words are not used. With --measure it prints how readable each document is, what the sources say, and
// all of them together. With names it reads these files only.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import { syllable } from 'syllable';
import { commentsOf, hashCommentsOf } from './comments.mjs';
import { documents, settings, sources } from './documents.ts';
import { unwanted } from './prose-words.mjs';
import { stringsOf } from './strings.mjs';

/** A sentence may have so many words. */
const longest = 30;
/** Pages that are made from the code say so. They are measured only: mend them where they come from. */
const made = /^<!-- Made from .* not to be edited\. -->$/m;
/** Sources with texts of other kinds: in tests, benchmarks and examples, and the list of unwanted words itself. */
const apart = /^(test|bench|examples)\/|prose-words\.mjs$/;

/** The sentences of a Markdown text. Code counts as one word; blocks of code are left out. */
function sentencesOf(markdown) {
  const withoutFront = markdown.replace(/^---\n.*?\n---\n/s, (front) => front.replace(/[^\n]+/g, ''));
  const tree = fromMarkdown(withoutFront, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  return blocksOf(tree).flatMap(({ text, ...where }) =>
    text
      .replace(/\s+/g, ' ')
      .split(/(?<=[.!?][)"”’]*) (?=["“(]?[\p{Lu}\d`])/u)
      .map((sentence) => ({ ...where, text: sentence.trim() }))
      .filter((sentence) => /\p{L}/u.test(sentence.text)),
  );
}

/** Paragraphs, and with `fragment` what need not be a whole sentence: headings and cells of tables. */
function blocksOf(node) {
  const line = node.position?.start.line ?? 0;
  if (node.type === 'paragraph') return [{ line, text: textOf(node), fragment: false }];
  if (node.type === 'heading' || node.type === 'tableCell')
    return [{ line, text: textOf(node), fragment: true }];
  return (node.children ?? []).flatMap(blocksOf);
}

function textOf(node) {
  if (node.type === 'inlineCode') return 'Code';
  if (node.type === 'break') return ' ';
  if (node.type === 'text') return node.value;
  return (node.children ?? []).map(textOf).join('');
}

const wordsOf = (text) => text.match(/[\p{L}\d][\p{L}\d’'./_#@%+-]*/gu) ?? [];

/** What is wrong in a text, with the line (from 1) where each paragraph begins. */
function problemsOf(markdown) {
  return sentencesOf(markdown).flatMap(({ line, text }) => {
    const count = wordsOf(text).length;
    const tooLong = `${count} words in a sentence, ${longest} at most: "${text.slice(0, 70)}…"`;
    const words = unwanted.flatMap(({ pattern, instead }) => {
      const [found] = pattern.exec(text) ?? [];
      return found === undefined ? [] : [{ line, says: `"${found}": ${instead}` }];
    });
    return [...(count > longest ? [{ line, says: tooLong }] : []), ...words];
  });
}

/** The same for the comments and texts of a source. They are Markdown, too. */
function problemsOfSource(file, source) {
  return [...saidIn(file, source), ...textsOf(file, source)]
    .filter(({ text }) => mayBeWrong(text.replace(/\s+/g, ' ')))
    .flatMap((part) => problemsOf(part.text).map(({ line, says }) => ({ line: part.line + line - 1, says })));
}

const isCode = (file) => /\.(ts|mjs)$/.test(file);

const saidIn = (file, source) => (isCode(file) ? commentsOf(source) : hashCommentsOf(source));

/** The texts of a source that people may read. Those of tests and benchmarks are read by who writes them. */
function textsOf(file, source) {
  return apart.test(file) || !isCode(file) ? [] : stringsOf(source);
}

/** Whether a text may have a problem. Most comments are short, and parsing them all would take seconds. */
function mayBeWrong(text) {
  return wordsOf(text).length > longest || unwanted.some(({ pattern }) => pattern.test(text));
}

/** Counts whole sentences, without headings and tables. */
function countsOf(markdown) {
  const whole = sentencesOf(markdown).filter(({ fragment }) => !fragment);
  const words = whole.flatMap(({ text }) => wordsOf(text));
  const syllables = words.reduce((sum, word) => sum + Math.max(1, syllable(word)), 0);
  return { sentences: whole.length, words: words.length, syllables };
}

function sumOf(list) {
  const sum = { sentences: 0, words: 0, syllables: 0 };
  for (const counts of list) for (const name of Object.keys(sum)) sum[name] += counts[name];
  return sum;
}

/** Words of an average sentence, and the grade of Flesch and Kincaid. */
function measured(name, { sentences, words, syllables }) {
  const average = words / Math.max(1, sentences);
  const grade = 0.39 * average + 11.8 * (syllables / Math.max(1, words)) - 15.59;
  return `${average.toFixed(1).padStart(7)}${grade.toFixed(1).padStart(7)}${String(words).padStart(8)}  ${name}`;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { measure: { type: 'boolean', default: false } },
});

if (options.measure) {
  const files = positionals.length > 0 ? positionals : documents();
  console.log('average  grade   words');
  const counted = files.map((file) => ({ name: file, counts: countsOf(readFileSync(file, 'utf8')) }));
  if (positionals.length === 0) {
    const read = [...sources(), ...settings].map((file) => ({ file, source: readFileSync(file, 'utf8') }));
    const comments = read.flatMap(({ file, source }) => saidIn(file, source));
    const texts = read.flatMap(({ file, source }) => textsOf(file, source));
    for (const [name, parts] of Object.entries({ comments, texts }))
      counted.push({ name: `${name} in sources`, counts: sumOf(parts.map(({ text }) => countsOf(text))) });
  }
  for (const { name, counts } of counted) console.log(measured(name, counts));
  console.log(measured('all', sumOf(counted.map(({ counts }) => counts))));
} else {
  const files = positionals.length > 0 ? positionals : [...documents(), ...sources(), ...settings];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    if (positionals.length === 0 && made.test(text)) continue;
    const problems = file.endsWith('.md') ? problemsOf(text) : problemsOfSource(file, text);
    for (const { line, says } of problems) {
      console.error(`${file}:${line} ${says}`);
      process.exitCode = 1;
    }
  }
}

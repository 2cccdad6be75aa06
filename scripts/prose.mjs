// Checks the prose of documents, and of comments in sources: `npm run check:prose`. A sentence has at most 30 words, and
// some words are not used. With --measure it prints how readable each document is, and all of them together. With names
// it reads these files only.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import { syllable } from 'syllable';
import { commentsOf } from './comments.mjs';
import { documents, sources } from './documents.ts';
import { unwanted } from './prose-words.mjs';

/** A sentence may have so many words. */
const longest = 30;
/** Pages that are made from the code say so. They are measured only: mend them where they come from. */
const made = /^<!-- Made from .* not to be edited\. -->$/m;

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

/** The same for the comments of a source. Their texts are Markdown, too. */
function problemsOfComments(source) {
  return commentsOf(source)
    .filter(({ text }) => mayBeWrong(text.replace(/\s+/g, ' ')))
    .flatMap((comment) =>
      problemsOf(comment.text).map(({ line, says }) => ({ line: comment.line + line - 1, says })),
    );
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
  const all = { sentences: 0, words: 0, syllables: 0 };
  for (const file of files) {
    const counts = countsOf(readFileSync(file, 'utf8'));
    for (const name of Object.keys(all)) all[name] += counts[name];
    console.log(measured(file, counts));
  }
  console.log(measured('all', all));
} else {
  const files = positionals.length > 0 ? positionals : [...documents(), ...sources()];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    if (positionals.length === 0 && made.test(text)) continue;
    const problems = file.endsWith('.md') ? problemsOf(text) : problemsOfComments(text);
    for (const { line, says } of problems) {
      console.error(`${file}:${line} ${says}`);
      process.exitCode = 1;
    }
  }
}

// The texts in TypeScript and JavaScript sources, for `scripts/prose.mjs`: what people and agents read, such as errors,
// hints, help and what the log says.
import ts from 'typescript';

/** Statements in SQL, markup and JSON, programs for a shell, and lists of patterns. */
const notProse = [
  /\b(create (unique )?(table|index)|primary key|not null|insert into|delete from|update\s+\S+(\s+as \w+)?\s+set|select\b.+\bfrom\b)/is,
  /^\s*[<{]/,
  /\blocal \w+=|\[\[ /,
  /\(\?[:!<=]|\w\)?\|\w+\)?\|\w/,
];
/** Texts that stay as they are, whatever the rules say: each by words in it, and with the reason. */
const kept = [
  // asks a model for JSON: the form of the answer is in the sentence
  'You draw the answers of several models together',
];

/**
 * The texts of a source, in order: the line (from 1) where each begins, and the text. An expression in a template is
 * the word `X`. Texts that are joined with `+` are one.
 */
export function stringsOf(source) {
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest);
  const texts = [];
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isTaggedTemplateExpression(node)) return;
    const text = textOf(node);
    if (text !== undefined && isProse(text))
      texts.push({ line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1, text });
    if (text === undefined) ts.forEachChild(node, visit);
    else for (const expression of expressionsOf(node)) visit(expression);
  };
  visit(tree);
  return texts;
}

/** What a literal says; `undefined` for all else. */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `X${literal.text}`).join('');
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const sides = [textOf(node.left), textOf(node.right)];
  return sides.includes(undefined) ? undefined : sides.join('');
}

/** The expressions in a template, which may hold texts of their own. */
function expressionsOf(node) {
  if (ts.isTemplateExpression(node)) return node.templateSpans.map(({ expression }) => expression);
  return ts.isBinaryExpression(node) ? [node.left, node.right].flatMap(expressionsOf) : [];
}

function isProse(text) {
  if (!/\p{L}/u.test(text)) return false;
  return !kept.some((words) => text.includes(words)) && !notProse.some((pattern) => pattern.test(text));
}

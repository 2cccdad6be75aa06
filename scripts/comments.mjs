// The comments of TypeScript and JavaScript sources, for `scripts/prose.mjs`.
import ts from 'typescript';

const { SyntaxKind } = ts;

/**
 * The comments of a source, in order: the line (from 1) where each begins, and its text without the marks and without
 * examples of code. The text has as many lines as the comment. `//` comments on consecutive lines are one comment.
 */
export function commentsOf(source) {
  const comments = [];
  let line = 1;
  let counted = 0;
  for (const { pos, end } of rangesOf(source)) {
    const last = comments.at(-1);
    const raw = source.slice(pos, end);
    const single = raw.startsWith('//');
    line += source.slice(counted, pos).split('\n').length - 1;
    counted = pos;
    if (single && last?.single && /^\r?\n[ \t]*$/.test(source.slice(last.end, pos))) {
      last.text += `\n${textOf(raw)}`;
      last.end = end;
    } else comments.push({ line, text: textOf(raw), end, single });
  }
  return comments.map(({ line, text }) => ({ line, text }));
}

/** The same for files whose comments begin with `#`: settings, and programs for a shell. */
export function hashCommentsOf(source) {
  const comments = [];
  for (const [index, row] of source.split('\n').entries()) {
    const [comment, text = ''] = /^\s*#(?: (.*))?$/.exec(row) ?? [];
    const last = comments.at(-1);
    if (comment === undefined) continue;
    if (last !== undefined && last.line + last.rows.length === index + 1) last.rows.push(text);
    else comments.push({ line: index + 1, rows: [text] });
  }
  return comments.map(({ line, rows }) => ({ line, text: rows.join('\n') }));
}

/** The text of one comment. Lines of an `@example` are left empty. */
function textOf(comment) {
  return comment
    .replace(/^\/\/+ ?|^\/\*+ ?|\s*\*+\/$/g, '')
    .replace(/^[ \t]*\* ?/gm, '')
    .replace(/^@example\b.*(\n(?!@).*)*/gm, (example) => example.replace(/.+/g, ''));
}

/** After these tokens a slash divides. After any other it begins a regular expression. */
const values = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
]);

/** Where comments begin and end. The scanner is told where regular expressions and the rests of templates begin. */
function* rangesOf(source) {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, source);
  /** For each template that is open, how many braces are open in its expression. */
  const braces = [];
  let previous;
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === SyntaxKind.SingleLineCommentTrivia || kind === SyntaxKind.MultiLineCommentTrivia)
      yield { pos: scanner.getTokenStart(), end: scanner.getTokenEnd() };
    if (kind <= SyntaxKind.LastTriviaToken) continue;
    if (kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) {
      if (!values.has(previous)) kind = scanner.reScanSlashToken();
    } else if (kind === SyntaxKind.TemplateHead) braces.push(0);
    else if (kind === SyntaxKind.OpenBraceToken && braces.length > 0) braces[braces.length - 1] += 1;
    else if (kind === SyntaxKind.CloseBraceToken && braces.length > 0) {
      if (braces.at(-1) > 0) braces[braces.length - 1] -= 1;
      else {
        kind = scanner.reScanTemplateToken(false);
        if (kind === SyntaxKind.TemplateTail) braces.pop();
      }
    }
    previous = kind;
  }
}

/** Elements whose content is not shown. */
const unseen = new Set(['script', 'style', 'template', 'noscript', 'title', 'textarea', 'iframe']);
/** Elements that are in the middle of a line. */
const inline = new Set(['a', 'b', 'i', 'em', 'strong', 'span', 'u', 's', 'code', 'bdi', 'time']);

const named = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: '\u00a0',
    mdash: '\u2014',
    hellip: '\u2026',
    lbrack: '[',
    lsqb: '[',
    rbrack: ']',
    rsqb: ']',
    lbrace: '{',
    lcub: '{',
    rbrace: '}',
    rcub: '}',
    bsol: '\\',
    Hat: '^',
    grave: '`',
    vert: '|',
    verbar: '|',
    lowbar: '_',
    colon: ':',
  }),
);

/**
 * The text that a piece of HTML shows: without tags, comments, attributes and what scripts and styles hold, and with
 * its character references decoded once. Linear in the length, whatever it is.
 */
export function textOfHtml(html: string): string {
  // ASCII alone: other letters may become longer, and places in the text would not be those of the HTML
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    text += html.slice(at, open);
    const markup = markupAt(html, lower, open);
    // a `<` that begins no markup is one
    text += markup ? markup.shows : '<';
    at = markup ? markup.end : open + 1;
  }
  return decoded(text + html.slice(at));
}

/** Where the markup at a `<` ends, with the content of what is not shown, and what replaces it in the text. */
function markupAt(html: string, lower: string, open: number): { end: number; shows: string } | undefined {
  const behind = (mark: string, from: number) => {
    const found = lower.indexOf(mark, from);
    return found < 0 ? html.length : found + mark.length;
  };
  if (html.startsWith('<!--', open)) return { end: behind('-->', open + 4), shows: '' };
  const isClosing = html[open + 1] === '/';
  const name = /^[a-z][a-z0-9-]*/.exec(lower.slice(open + (isClosing ? 2 : 1), open + 32))?.[0];
  if (name === undefined)
    return /[!?/]/.test(html[open + 1] ?? '') ? { end: behind('>', open), shows: '' } : undefined;
  let end = open + 1;
  for (let quote = ''; end < html.length; end++) {
    const character = html[end]!;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') break;
    else if (character === '"' || character === "'") quote = character;
  }
  const inside = end + 1;
  if (!isClosing && unseen.has(name)) {
    const close = lower.indexOf(`</${name}`, inside);
    return { end: close < 0 ? html.length : close, shows: ' ' };
  }
  return { end: inside, shows: inline.has(name) ? '' : ' ' };
}

function decoded(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named.get(name) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}

const escapes =
  /(?:%[\da-f]{2}){1,400}|&#\d{1,7};?|&#x[\da-f]{1,6};?|&(?:amp|lt|gt|quot|apos|nbsp|sol|period);|\\x[\da-f]{2}|\\u[\da-f]{4}|\\u\{[\da-f]{1,6}\}/gi;
const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  sol: '/',
  period: '.',
};

/** A text with percent encoding, character references and escapes resolved; `undefined` if it has none. */
export function unescaped(text: string): string | undefined {
  // costs less than to look for the escapes themselves, which few texts have
  if (!/[%&\\][#\da-z]/i.test(text)) return undefined;
  const read = text.replace(escapes, characters);
  return read === text ? undefined : read;
}

function characters(escaped: string): string {
  if (escaped.startsWith('%')) return Buffer.from(escaped.replaceAll('%', ''), 'hex').toString('utf8');
  const name = /^&([a-z]+);$/i.exec(escaped)?.[1];
  if (name !== undefined) return named[name.toLowerCase()] ?? escaped;
  const hexadecimal = /^(?:&#x|\\[xu]\{?)([\da-f]+)/i.exec(escaped)?.[1];
  const code = hexadecimal === undefined ? Number(/\d+/.exec(escaped)) : Number.parseInt(hexadecimal, 16);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : escaped;
}

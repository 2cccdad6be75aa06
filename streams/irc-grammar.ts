/** Bytes of one IRC line with prefix and CR LF; message tags are counted apart. */
export const lineBytes = 512;

/** The form of a nick. */
export const nickGrammar = /^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,29}$/;
const managedChannelGrammar = /^#[a-z0-9_-]{3,60}$/;
const channelGrammar = /^#[^\x00-\x20,\x7f\p{Cs}]+$/u;
const channelBytes = 200;

/** Whether `text` is a nick: 1–30 characters, no leading digit or hyphen. Check this before `casefold`. */
export function isNick(text: string): boolean {
  return nickGrammar.test(text);
}

/** Whether `text` is a name the channel service may create: `#` and 3–60 of `a-z0-9_-`. */
export function isManagedChannel(text: string): boolean {
  return managedChannelGrammar.test(text);
}

/**
 * Whether a channel with these mode letters is private: secret, private, by invitation only, or closed by a
 * key.
 */
export function isPrivate(modes: string): boolean {
  return /[spik]/.test(modes);
}

/** Whether `text` may be the name of a channel met on the network, with `#`, at most 200 bytes. */
export function isChannel(text: string): boolean {
  return text.length <= channelBytes && channelGrammar.test(text) && Buffer.byteLength(text) <= channelBytes;
}

/**
 * The key under which a nick or channel is compared (rfc1459 casemapping): ASCII letters and `[]\` become
 * `a-z` and `{}|`. `^` and `~` stay apart, as they do on InspIRCd: a nick cannot hold a `~` anyway.
 */
export function casefold(name: string): string {
  return name.replace(/[A-Z[\\\]]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 32));
}

/** The name of a channel that is given with its `#` or without. */
export function withHash(name: string): string {
  return name.startsWith('#') ? name : `#${name}`;
}

/** The name of a channel as addresses have it: without its `#`. */
export function withoutHash(name: string): string {
  return name.replace(/^#/, '');
}

/** The key of a channel that is given with its `#` or without. */
export function channelKey(name: string): string {
  return casefold(withHash(name));
}

/** Whether a casefolded text has a casefolded nick in it as a word. */
export function namesNick(text: string, nick: string): boolean {
  for (let from = text.indexOf(nick); from !== -1; from = text.indexOf(nick, from + 1)) {
    if (!isOfNick(text[from - 1]) && !isOfNick(text[from + nick.length])) return true;
  }
  return false;
}

const isOfNick = (character: string | undefined): boolean =>
  character !== undefined && /[a-z0-9_^`{|}-]/.test(character);

// Linear on any input: a run of visible characters and its separator never compete for the same character.
const plainAscii = /^[!-~]+(?: [!-~]+)*$/;
const needsCleaning = /[\p{Cc}\p{Cs}\p{DI}\p{NChar}\uFFF9-\uFFFB]/u;
const formatting =
  /\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[\da-f]{6}(?:,[\da-f]{6})?)?|[\x02\x0f\x11\x16\x1d-\x1f]/gi;
// Characters that a reader does not see (zero-width, bidi, tag and filler) can still speak to an agent. The
// two that hold an emoji together stay, once each, and only inside an emoji.
const invisible =
  /(?!(?<=\p{ExtPict}\uFE0F?)\u200D(?=\p{ExtPict})|(?<=\p{Emoji})\uFE0F)[\p{DI}\p{NChar}\uFFF9-\uFFFB]/gu;

/**
 * One line of visible text that is safe to put on IRC. It has no controls, CTCP, formatting or colour codes,
 * and no bidi, zero-width or tag characters. Lone surrogates become U+FFFD. White space is collapsed and
 * trimmed.
 */
export function cleanText(text: string): string {
  if (plainAscii.test(text)) return text;
  let cleaned = text;
  if (needsCleaning.test(text)) {
    // Lone surrogates go first: what is removed between two of them must not make them a pair.
    cleaned = text
      .replace(/\p{Cs}/gu, '\uFFFD')
      .replace(formatting, '')
      .replace(invisible, '')
      .replace(/\p{Cc}+/gu, ' ');
  }
  return cleaned.replace(/\s+/g, ' ').trim();
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The beginning of `text` up to `end` (a code point boundary), or up to the last grapheme boundary before it.
 * A grapheme that is too long on its own is cut between code points: some text is better than none.
 */
function cutAtGrapheme(text: string, end: number): string {
  if (end === 0) return '';
  // Between two printable ASCII characters there is always a boundary; the segmenter costs some microseconds.
  if (/^[ -~]{2}$/.test(text.slice(end - 1, end + 1))) return text.slice(0, end);
  // Whether there is a boundary at `end` depends on nothing after the code point that begins there.
  const { index = end } = graphemes.segment(text.slice(0, end + 2)).containing(end) ?? {};
  return text.slice(0, index === 0 ? end : index);
}

/** The longest beginning of `text` of at most `maxBytes` bytes of UTF-8 that ends between two graphemes. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const codePoint = text.codePointAt(end)!;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return cutAtGrapheme(text, end);
    end += codePoint < 0x10000 ? 1 : 2;
  }
  return text;
}

/** The longest beginning of `text` of at most `max` code points that ends between two graphemes. */
export function cutToCharacters(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  for (let count = 0; end < text.length; count++) {
    if (count >= max) return cutAtGrapheme(text, end);
    end += text.codePointAt(end)! < 0x10000 ? 1 : 2;
  }
  return text;
}

/** Bytes left for the text of a PRIVMSG to `channel` once the server has put the sender's `mask` before it. */
export function lineBudget({ mask, channel }: { mask: string; channel: string }): number {
  return Math.max(0, lineBytes - Buffer.byteLength(`:${mask} PRIVMSG ${channel} :\r\n`));
}

/** Letters of other alphabets that look like Latin ones. */
const lookalikes: Record<string, string> = {
  ...pairs('авеѕіјкмнорсԁтухһԛԝѵ', 'abesijkmhopcdtyxhqwv'),
  ...pairs('АВЕЅІЈКМНОРСТУХ', 'abesijkmhopctyx'),
  ...pairs('αβεγικνορτυχωηµ', 'abeyikvoptuxwnu'),
  ...pairs('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'abezhikmnoptyx'),
  ...pairs('ԍԌցհոօսոաꓲıɡɑᴦ', 'gggnnounwiigar'),
};
const small = pairs('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnoprstuvwyz');

/** Small capitals, which are letters of their own. */
export const smallCapitals = /[ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ]/gu;

/** The Latin letter that a letter looks like; the letter itself when it looks like none. */
export function latinOf(letter: string): string {
  return small[letter] ?? lookalikes[letter] ?? letter;
}

/** Whether a word mixes Latin letters with others that look like them: honest words keep to one alphabet. */
export function isLatinLookalike(word: string): boolean {
  return (
    /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u.test(word)
  );
}

/** Lower case without marks, in the letters and quotes of plain text; the words of rules go the same way. */
export function fold(text: string): string {
  return unmarked(text).toLowerCase();
}

/** Letters in white on black squares and circles, and those of flags, which Unicode takes for pictures; by their A. */
const pictured = [0x1f150, 0x1f170, 0x1f1e6];
const picturedLetters = /[\u{1F150}-\u{1F169}\u{1F170}-\u{1F189}\u{1F1E6}-\u{1F1FF}]/gu;
/** Letters whose missing dot or stroke Unicode does not count as a mark. */
const undotted: Record<string, string> = { ı: 'i', ȷ: 'j', ł: 'l', Ł: 'L', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D' };

/** Without marks, in the letters and quotes of plain text, capitals as they are. */
export function unmarked(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .replace(picturedLetters, letterIn)
    .replace(/[ıȷłŁøØđĐ]/g, (letter) => undotted[letter]!)
    .replace(/[‘’ʼ′`´]/g, "'")
    .replace(/[“”„«»″]/g, '"')
    .replace(/[‐-―−]/g, '-');
}

function letterIn(picture: string): string {
  const code = picture.codePointAt(0)!;
  return String.fromCharCode(97 + code - pictured.findLast((first) => first <= code)!);
}

function pairs(letters: string, latin: string): Record<string, string> {
  const to = [...latin];
  return Object.fromEntries([...letters].map((letter, index) => [letter, to[index]!]));
}

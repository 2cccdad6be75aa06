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
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[‘’ʼ′`´]/g, "'")
    .replace(/[“”„«»″]/g, '"')
    .replace(/[‐-―−]/g, '-');
}

function pairs(letters: string, latin: string): Record<string, string> {
  const to = [...latin];
  return Object.fromEntries([...letters].map((letter, index) => [letter, to[index]!]));
}

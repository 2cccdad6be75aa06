/** What the search of the guide reads of a section: fields of the index. */
export const fields = ['title', 'heading', 'text'];

/** The words of a text. A name such as `EVENT_TTL_MS` is a word, and so is each of its parts. */
export function tokenize(text: string): string[] {
  return text
    .split(/[^\p{L}\d_]+/u)
    .flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]))
    .filter(Boolean);
}

/**
 * How the search ranks sections. Somebody who searches wants to do something more often than to look up a table, so
 * tutorials and guides come before the reference. The pages of commands and errors repeat the words of everything.
 */
export const searchOptions = {
  boost: { title: 4, heading: 3 },
  boostDocument: (id: string): number => {
    if (/^\/guide\/(tutorials|guides)\//.test(id)) return 2;
    return /^\/guide\/reference\/(command-line|errors|facts|read-models|routes)\b/.test(id) ? 0.5 : 1;
  },
  prefix: true,
  fuzzy: (term: string) => term.length > 4 && 0.25,
  combineWith: 'AND' as const,
};

/** Words over which readers stumble, each with what to write in its place. */
export const unwanted = [
  { pattern: /\b(of|with|for|to|by|from) whom\b|\bwhom\b/i, instead: 'make it two sentences, or use "who"' },
  { pattern: /\bof which\b/i, instead: 'make it two sentences' },
  { pattern: /\bputs? out\b|\bput off\b/i, instead: 'say "removes", "kicks" or "disconnects"' },
  { pattern: /\blets? be\b/i, instead: 'say "leaves alone"' },
  { pattern: /\b(stands?|stood|standing)\b(?! (in )?for\b| by\b| still\b)/i, instead: 'say "is"' },
  {
    pattern: /\bbehind (?!a proxy|proxies|the proxy|a-proxy)/i,
    instead: 'say "after", "below", or how far it lags',
  },
  { pattern: /\bbeside\b/i, instead: 'say "next to", or "besides"' },
  { pattern: /\b(is|are|was|were) to be\b/i, instead: 'say "must be", "will be" or "should be"' },
  { pattern: /\b(is|was) none\b/i, instead: 'say "is not one"' },
  { pattern: /\bto be had\b/i, instead: 'say what cannot be done' },
  { pattern: /\banew\b/i, instead: 'say "again"' },
  { pattern: /\ball the same\b/i, instead: 'say "still"' },
  { pattern: /\bthereof|therein|thereby|whereof|wherein|hereby\b/i, instead: 'name the thing' },
  { pattern: /\bshall\b/i, instead: 'say "must" or "will"' },
  { pattern: /\bin order to\b/i, instead: 'say "to"' },
  { pattern: /\butili[sz]e/i, instead: 'say "use"' },
  { pattern: /\b(simply|just|easily|obviously|of course)\b/i, instead: 'leave it out' },
  {
    pattern: /\b(he|him|his|she|her|hers|himself|herself)\b/i,
    instead: 'say "they", "them", "their" or "themselves"',
  },
];

/** Words over which readers stumble, each with what to write in its place. */
export const unwanted = [
  { pattern: /\b(of|with|for|to|by|from) whom\b|\bwhom\b/i, instead: 'make it two sentences, or use "who"' },
  { pattern: /\bof which\b/i, instead: 'make it two sentences' },
  { pattern: /\bputs? out\b|\bput off\b/i, instead: 'say "removes", "kicks" or "disconnects"' },
  { pattern: /\blets? be\b/i, instead: 'say "leaves alone"' },
  { pattern: /\bstands? for\b/i, instead: 'say "vouches for", "takes the place of" or "means"' },
  { pattern: /\b(stands?|stood|standing)\b(?! in for\b| by\b| still\b)/i, instead: 'say "is"' },
  {
    pattern: /\bbehind (?!a proxy|proxies|the proxy|a-proxy)/i,
    instead: 'say "after", "below", or how far it lags',
  },
  { pattern: /\bbeside\b/i, instead: 'say "next to", or "besides"' },
  {
    pattern: /\b(is|are|was|were) (not |still )?to (be|come)\b/i,
    instead: 'say "must be", "will be" or "should be"',
  },
  // a sentence whose subject is a clause: "Who asks again is answered". A mere "Who asks." says what a member holds
  {
    pattern:
      /(^|[.:] )Who [a-z]+\b[^?,:;.]* (?<!\b(?:that|who|which|it|they|somebody|nobody|what|you) )(is|are|was|gets?|has|had|can|cannot|may|does|must|hears|counts|ends|leaves|comes|waits|finds|reads|asks|speaks|pays|keeps|goes) [^?]*\.$/,
    instead: 'say "If you", or name who does it',
  },
  { pattern: /^Of (one|what|types|a|other|an)\b/, instead: 'put the subject first' },
  { pattern: /\bthe own\b/i, instead: 'say "its own" or "your own"' },
  { pattern: /\blook whether\b/i, instead: 'say "check whether"' },
  { pattern: /\bslip of the pen\b/i, instead: 'say "typo"' },
  { pattern: /\bfrom which on\b/i, instead: 'say "from which", or "at which"' },
  { pattern: /\b(has|have) them not\b/i, instead: 'say "does not have them"' },
  { pattern: /\bis news\b/i, instead: 'say "changed"' },
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

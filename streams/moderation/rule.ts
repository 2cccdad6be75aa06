/** What an attack goes for. */
export type Family = 'orders' | 'secrets' | 'money' | 'disguise' | 'spread';

/** One sign of an attack. */
export interface Rule {
  /** It appears in the `patterns` of incidents, for ever. */
  id: string;
  family: Family;
  /** Points out of 100 that it counts alone. */
  weight: number;
  /** Looked for in folded text. */
  pattern: RegExp;
  /** What makes it harmless: advice against it, or somebody's own words. */
  unless?: RegExp;
}

/**
 * Defines a rule by the wordings that show it, and by those that make it harmless. In a wording, `~3` means
 * at most three words, each with a space after it. `@secret` means the words of that list. Every repetition
 * must have a bound: that bounds the time of a match.
 */
export function rule(
  id: string,
  family: Family,
  weight: number,
  shown: string[],
  harmless: string[] = [],
): Rule {
  const unless = harmless.length > 0 ? { unless: wording(harmless) } : {};
  return { id, family, weight, pattern: wording(shown), ...unless };
}

const longestWord = 30;

function wording(ways: readonly string[]): RegExp {
  const source = ways.join('|').replace(/~(\d)/g, `(?:[^ ]{1,${longestWord}} ){0,$1}`);
  return new RegExp(source.replace(/@(\w+)/g, (_, name: string) => `(?:${lists[name] ?? name})`));
}

const lists: Record<string, string> = {
  agent: 'ai|llms?|bots?|agents?|assistants?|chatbots?|(?:language )?models?',
  address: '0x[0-9a-f]{6,40}|[a-z0-9-]{3,40}\\.eth\\b',
  link: 'https?://|www\\.|[a-z0-9-]{2,40}\\.(?:com|net|org|io|xyz|example)/|url|link|page|site',
  orders:
    'instructions?|directions?|directives?|prompts?|rules?|guidelines?|guidance|orders|constraints?|restrictions?|limits|checks|polic(?:y|ies)|programming|training|guardrails?|safeguards?',
  earlier:
    'previous|prior|above|earlier|preceding|former|foregoing|initial|original|old|existing|current|usual|normal|standard|system|developer|safety|given|received|your|ur',
  drop: "ignore|disregard|forget|override|discard|drop|abandon|bypass|neglect|cancel|dismiss|erase|wipe|skip|suspend|circumvent|set aside|put aside|throw away|leave behind|pay no attention to|(?:stop|quit|cease) (?:following|obeying)|(?:do not|don't|no longer) (?:follow|obey)",
  tell: 'reveal|show|print|repeat|output|display|tell|give|leak|dump|share|recite|paste|post|expose|disclose|summari[sz]e|translate|send|quote|list|copy|provide|supply|submit|read out|write out|spell out|type',
  secret:
    'private keys?|secret keys?|seed(?: phrases?| words?)?|mnemonics?|recovery (?:phrases?|words)|api[ _]keys?|[a-z]{2,20}_(?:api_)?(?:key|secret|token)|passwords?|passphrases?|credentials|env(?:ironment)? var(?:iable)?s|\\.env|access tokens?|(?:wallet|ssh|signing) keys?|keystore|12 words',
  money: 'usdc|usdt|eth|funds?|money|balance|tokens?|coins?|treasury|savings|wallet|payments?',
  master: 'user|owner|human|operator|principal|admin(?:istrator)?',
  work: 'proofs?|bids?|bidders?|submissions?|disputes?|escrows?|claims?|tasks?|jobs?|photos?|deliver(?:y|ies)|evidence|sellers?',
};

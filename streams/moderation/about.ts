/** Ways to talk about attacks without making one: to ask, to quote, to warn, to teach. */
const ways = [
  // how do you detect …, what happens if a title says …
  '(?:how (?:do|does|can|could|would|to|should)|what (?:happens|does|do|is|if)|why|whether|did|do you|does) .{0,60}\\b(?:detect|prevent|block|filter|catch|stop|trigger|mean|handle|hide|attacker)\\b|what happens (?:if|when) ',
  '(?:prompt )?injections?\\b|phishing\\b|scams?(?:mers?)?\\b|jailbreaks? (?:such|like|and|are|fail)',
  // somebody wrote …, mails say …
  '(?:someone|somebody|a user|a line|a title|titles?|attackers?|spammers?|people|he|she|they|messages?|mails?|phrases?|lines?) (?:(?:that|who|which) |called \\w{1,30} )?(?:said|says?|saying|wrote|writes|tried|tries|told|tells?|asked|asks?|sent|sends|posted|posts|claims?|like|order)\\b',
  '(?:classic|typical|known|common) (?:example|attack|trick|phrase)|example of\\b|beware of\\b|flagged\\b|reported (?:it|them)\\b',
  '(?:looks?|searches|test(?:s|ed)?|scan(?:s|ned)?|watch(?:es)?|quot(?:e|ed|es)) .{0,30}\\b(?:for|with|words?|phrases?|an attack)\\b',
  "(?:never|should not|shouldn't|must not) (?:follow|obey)\\b|(?:do not|don't) (?:follow|obey) instructions (?:that|in)\\b",
  "(?:never|do not|don't|should not|shouldn't|must not) (?:run|trust|approve|release|accept|sign)\\b|data and never\\b",
  '(?:our|the|this) paper (?:on|describes?|shows?)|article (?:about|on)\\b|parser\\b|templates?\\b.{0,20}\\b(?:uses?|differ|family)\\b',
  'trigger(?:s|ed)? the (?:guardian|filter)\\b',
];
const talk = new RegExp(`\\b(?:${ways.join('|')})`);

/** Whether a folded text talks about attacks. It may still be one, so this only makes it count less. */
export function isTalk(plain: string): boolean {
  return talk.test(plain);
}

import { type Rule, rule } from './rule.js';

const raw = String.raw;

/** Those who want an agent's money, or somebody else's escrow. */
export const moneyRules: Rule[] = [
  rule(
    'money-drain',
    'money',
    55,
    [
      raw`\b(?:send|transfer|move|withdraw|sweep|forward|empty|drain) ~1(?:all|your|the (?:whole|entire|treasury)|everything|whatever|any) ~4(?:@money)? ?~5(?:@address|to me\b|at once|immediately|now\b|into)`,
    ],
    [
      raw`\b(?:boxes|photos?|files?|van|depot|earnings|availability)\b`,
      raw`\bto your (?:own )?(?:wallet|account)\b`,
    ],
  ),
  rule(
    'money-urgent',
    'money',
    45,
    [
      raw`\b(?:send|transfer|deposit|pay|move) ~6(?:to|into|at) ~3(?:@address).{0,60}\b(?:before|within|now|immediately|at once|today|tonight|or|double|to (?:stay|keep|continue|unlock|avoid))\b`,
      raw`\burgent\b.{0,40}\b(?:send|transfer|pay) .{0,40}@address`,
      raw`\b(?:must|have to|need to) (?:send|transfer|deposit|pay|move) .{0,50}@address`,
      raw`\bi (?:will|'ll) (?:return|send back|pay back) (?:you )?(?:double|twice|triple)`,
    ],
    [raw`\b(?:i|we) (?:send|sent|paid|moved|transferred)\b`],
  ),
  rule(
    'money-unchecked',
    'money',
    48,
    [
      raw`\b(?:release|settle|pay|refund|approve|accept) ~9(?:without (?:check|verif|review|looking|wait|evidence|proof)|even if|regardless|before (?:check|verif|review)|no (?:checks?|verification|review|questions) (?:needed|necessary|asked))`,
      raw`\b(?:skip|do not|don't|no need (?:for|to)|forget) ~1(?:the )?(?:review|verif|verify|check|wait) ~8(?:pay|release|settle|refund)`,
      raw`\b(?:release|pay|refund) ~5(?:no need to|skip|trust me)|\bpay first\b|\brelease ~4(?:to me|for me) ~1(?:right )?now`,
      raw`\brelease (?:all|every) ~4to [^ ]{2,30} (?:before|now|immediately|at once|today)`,
      raw`\bskip (?:the|this) evidence\b|\bpay [^ ]{2,30} twice\b`,
    ],
    [raw`\b(?:never|don't|do not|cannot) (?:release|pay|approve|settle|accept)\b`, raw`\bpossible\b`],
  ),
  rule(
    'money-redirect',
    'money',
    46,
    [
      raw`\b(?:payout|payment|deposit|wallet|escrow) address (?:has|was|is) (?:been )?(?:changed|updated|new|replaced|compromised)\b.{0,80}@address`,
      raw`\b(?:from now on|instead) ~2(?:send|pay|use) ~4(?:payments?|payouts?|bount(?:y|ies)|funds) ~2to @address`,
      raw`\b(?:change|replace|update|set) (?:the|your) (?:payout|payment) (?:wallet|address) ?(?:$|[.!;:,]| of | to (?:mine|my|me|@address))`,
    ],
    [raw`\b(?:how|where|can) (?:do|can|to|i)\b`, raw`\bin (?:my|your|the) (?:profile|settings)\b`],
  ),
  rule(
    'money-allowance',
    'money',
    50,
    [
      raw`\b(?:approve|grant|set|give) ~2(?:unlimited|infinite|max(?:imum)?|full) ~2(?:spend|allowance|approval|access)`,
      raw`\bsetapprovalforall\b|\bsign (?:this|the) (?:permit|approval|transaction) ~4(?:to|so|before|and|now)`,
      raw`\bunlimited (?:allowance|spending) (?:for|of|to)\b`,
    ],
    [raw`\b(?:never|not) (?:sign|approve|set)\b`],
  ),
];

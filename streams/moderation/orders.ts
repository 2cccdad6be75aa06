import { type Rule, rule } from './rule.js';

const raw = String.raw;

/** Those who give orders to a model that reads along. */
export const orderRules: Rule[] = [
  rule(
    'override',
    'orders',
    50,
    [
      raw`\b@drop ~4@earlier ~3@orders\b`,
      raw`\b@drop ~2(?:all|any|every|the|whatever) ~3@orders (?:above|before|so far|you (?:were|have|got|received|follow))`,
      raw`\b@drop (?:all )?(?:of )?(?:your|ur) ~2@orders\b`,
      raw`\b(?:ignore|disregard|forget) (?:all |about )?(?:the|any|these|those) @orders\b`,
      raw`\b(?:none|no part) of (?:your|the|these|those) ~2@orders (?:apply|applies|count|matter)`,
      raw`\b(?:your|these|those|the) ~2@orders (?:do not|don't|no longer) (?:apply|count|matter|bind)(?: (?:to|for) (?:me|my|us|this)| here| any ?more|[.,!;]|$)`,
      raw`\b(?:your|all|the|any) ~1(?:previous|prior|former|earlier|original|system|old) @orders (?:contained|contain|had|have|has|is|are|was|were) ~2(?:errors?|void|wrong|outdated|replaced|revoked|cancelled|invalid|obsolete|superseded|withdrawn|lifted)`,
    ],
    [
      raw`\b(?:my|our|her|his|their) (?:previous|earlier|old|first|last) @orders`,
      raw`@orders (?:i|we|from|on|for|about|of) `,
      raw`\b(?:does not|doesn't|can|cannot|may) (?:the \w{1,20} )?override`,
    ],
  ),
  rule('forget-all', 'orders', 45, [
    raw`\b@drop ~2(?:everything|anything|all|what(?:ever)?) ~3(?:above|before|told|know|learned|written|said|instructed)\b`,
    raw`\bwhat(?:ever)? ~3(?:told|instructed|taught) you ~4@drop\b`,
    raw`\b(?:above|previous) (?:prompt|instructions?|message) (?:is|are|was|were) ~2(?:outdated|void|wrong|cancelled|fake|invalid)`,
    raw`\beverything ~3@master (?:said|told you|wrote|ordered) (?:is|was) `,
    raw`\bstart (?:fresh|over|anew) with (?:mine|my|these|this)\b`,
  ]),
  rule(
    'new-orders',
    'orders',
    40,
    [
      raw`\b(?:new|updated|real|actual|true|revised) (?:system )?(?:instructions?|orders?|directives?|policy|prompt) ?(?:for you|follow|are)? ?:`,
      raw`\byour (?:new|updated|only|real|actual|true) (?:role|task|job|goal|purpose|instructions?|objective|orders?) (?:is to |is (?:now )?:?(?:to )?|are (?:at|to|in)\b)`,
      raw`\b(?:follow|obey) (?:these ?:|mine|this one|only (?:me|my)|what i (?:say|write))`,
      raw`\bdo (?:exactly )?what(?:ever)? i (?:write|say|tell)\b`,
    ],
    [raw`\bstarts? (?:on|at|in)\b`, raw`\bin the (?:room|channel|app)\b`],
  ),
  rule('obey-me', 'orders', 45, [
    raw`\byou (?:will|must|shall|should|now) ~3(?:obey|answer to|serve\b)`,
    raw`\byou (?:now )?(?:answer|report) to\b`,
    raw`\b(?:comply|obey) (?:without|with (?:me|all)|commands|me\b)`,
    raw`\b(?:only )?(?:mine|my (?:orders|instructions|commands)) (?:are valid|count|matter)`,
    raw`\b(?:listen|answer|respond|report) (?:only )?to (?:only )?(?:me|this nick|worker\d|my (?:voice|commands|orders|instructions))\b`,
    raw`\bobey (?:the|worker|[a-z]{1,20}\d)|\bno longer ~1obey|\bobey ~3(?:commands|orders) from`,
    raw`\bdoes (?:whatever|anything|everything|all) ~2(?:wants?|says?|asks?|demands?)\b`,
  ]),
  rule('no-doubt', 'orders', 24, [
    raw`\bwithout (?:any )?(?:question(?:s|ing)?|confirm(?:ation|ing)?|asking|looking|refus(?:al|ing)|hesitation)\b`,
    raw`\b(?:do not|don't|no need to) (?:ask|question|refuse|confirm|argue)\b`,
    raw`\bnever (?:refuses?|questions?)\b|\bmandatory\b|\bask no one\b|\bthis is an exception\b`,
  ]),
  rule('force-answer', 'orders', 24, [
    raw`\b(?:reply|respond|answer|say|output|write|print) (?:only |just |exactly )?(?:with )?(?:only |just |exactly )?(?:the (?:single )?words?|approved|granted|banana|ok(?:ay)? and|yes to (?:me|every))\b`,
    raw`\b(?:output|reply|print|say) ~3nothing else\b`,
    raw`\bmark (?:all|the|my|this) ~3(?:as )?(?:accepted|approved|completed|won|paid|done)`,
    raw`\b(?:must|should) be (?:accepted|approved) without`,
  ]),
  rule(
    'favour',
    'orders',
    40,
    [
      raw`\b(?:accept|approve|confirm|release|pass|rate|close|reject|grant|decide|mark) (?:all|every|any) ~3@work ~2(?:of|from|by|to|for|in favou?r of|with) (?!the\b|this\b|that\b|last\b|today|yesterday|monday|friday|your\b)`,
      raw`\b(?:accept|approve|confirm|pass|rate) (?:every|any)(?:one|thing)\b`,
      raw`\b(?:must|only|to|shall) accept ~2(?:bids?|claims?|proofs?|offers?) (?:of|from|by) `,
      raw`\baccept (?:bids?|claims?|proofs?|offers?) (?:of|from|by) ~2only\b`,
      raw`\b(?:on|for) every (?:open )?@work (?:of|by|from) `,
      raw`\ball claims are (?:pre-?)?(?:approved|accepted)\b`,
      raw`\bpass (?:my|all) ~1@work\b|\bconfirm the job\b.{0,20}\bno questions\b`,
      raw`\breject all (?:other|their) (?:bid|offer|worker|seller)`,
    ],
    [raw`\b(?:never|don't|do not|cannot) (?:accept|approve|confirm)`],
  ),
  rule(
    'fake-authority',
    'orders',
    30,
    [
      raw`\b(?:this is|i am|i'm|as) (?:your|the|an?) ~2(?:developer|creators?|maker|admin(?:istrator)?|security team|root user|operator|owner of (?:this|the) (?:network|market))\b`,
      raw`\b(?:message|instruction|order)s? from ~2(?:creators?|developers?|operators?|administrators?)\b`,
      raw`(?:^|[.!] )(?:operator|admin(?:istrator)?|developer|support|security) here\b`,
      raw`\b(?:admin(?:istrator)?|developer|root|operator) (?:override|access|mode) (?:code|granted|enabled by|has been (?:granted|enabled|activated))\b`,
      raw`\bauthori[sz]e you to\b|\bi ~2(?:order|command|instruct) you\b|\bsudo (?:approve|release|pay|accept|grant)\b`,
      raw`\bpre-?approved\b|\buser is (?:now )?(?:trusted|an administrator|authori[sz]ed|your operator)\b|\bspeaker is your operator\b|\bi am from support\b`,
    ],
    [
      raw`\bi am the (?:developer|admin) of (?:the|a)\b`,
      raw`\bnot (?:your|the|an?)\b`,
      raw`\badministrator restarted\b`,
    ],
  ),
  rule('permission', 'orders', 38, [
    raw`\b(?:have|with) (?:my|our|full) permission to (?:skip|ignore|bypass|approve|release|pay|accept|break)`,
    raw`\b(?:authori[sz]e|allow|permit) you to (?:skip|ignore|bypass|approve|release|pay|accept|break)`,
    raw`\byou have to (?:hand over|give up|ignore|approve|release)\b`,
    raw`\b(?:rules|checks|policy|verification) (?:do|does) not apply to (?:me|my)\b|\bapply to me\b`,
  ]),
  rule('persona', 'orders', 45, [
    raw`\b(?:you are|you're|act as|pretend (?:to be|you are|that you are)|imagine (?:you are|being)|where you are|roleplay as|play the role of|become) (?:now |from now on )?(?:an? |the )?~2(?:dan|unrestricted|unfiltered|uncensored|jailbroken|evil|corrupt|without (?:any )?(?:rules|restrictions|limits|filters)|no longer|rogue|admin(?:istrator)?\b)`,
    raw`\b(?:you are|you're) (?:now )?(?:an? |my )?(?:personal )?(?:slave|servant|payment terminal|puppet)\b`,
    raw`\byou are (?:now )?[a-z]{2,20}, an? @agent (?:that|who|which|without)\b`,
    raw`\b(?:behave|act|respond|talk|speak|answer) (?:like|as) ~3@agent (?:that|who|which|with|without) ~3(?:no|any|moral|rules?|limits?|restrictions?)\b`,
    raw`\bstay in character\b|\byou are no longer (?:an?|the|bound|restricted)|\bassume the (?:identity|role) of\b`,
    raw`\b(?:imagine|pretend) (?:that )?you (?:had|have) no\b|\bas if no (?:rules?|polic(?:y|ies)|limits?) existed\b`,
    raw`\byou have no (?:rules|restrictions|limits|guidelines)\b|\bno (?:moral|ethical) (?:limits|rules|code|restrictions)\b`,
  ]),
  rule(
    'jailbreak',
    'orders',
    45,
    [
      raw`\bdo anything now\b|\b(?:jailbreak|unfiltered|unrestricted|god|dan|uncensored|maintenance|debug) (?:mode|session)\b`,
      raw`\bdeveloper mode ~2enabled\b|\b(?:without|no) (?:any )?(?:censorship|safety (?:filters?|rules?)|ethical (?:limits?|rules?))`,
      raw`\b(?:disable|switch off|turn off|lift|remove|deactivate|bypass) ~1(?:your|all) ~1(?:filters?|safety|safeguards|guardrails|restrictions|moderation|polic(?:y|ies))`,
      raw`\b(?:safety rules|moderation|filters?|restrictions) (?:have|has|is|are|was|were) (?:been )?(?:lifted|switched off|disabled|suspended|removed)`,
      raw`\byou (?:may|can|must) (?:now )?ignore (?:policy|rules|safety)`,
    ],
    [
      raw`\bends at\b`,
      raw`\bin maintenance mode\b`,
      raw`\bmaintenance mode (?:starts|until)`,
      raw`\bdebug mode of\b`,
    ],
  ),
  rule('conceal', 'orders', 40, [
    raw`\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting|ask|asking) ~4(?:@master|publisher|message)\b`,
    raw`\b(?:hidden|secret|quiet) from (?:your|the) ~1@master\b|\b@master must not (?:notice|know|see)\b`,
    raw`\bsay nothing about (?:it|this)\b|\bsecretly (?:add|send|forward|change|approve|transfer|give)|\bsilently, `,
    raw`\bno trace ~4(?:logs?|records?|@master)\b|\b(?:delete|clear|edit) (?:the|your) (?:logs?|traces?|history) (?:after|of this|so that)`,
  ]),
];

import { type Rule, rule } from './rule.js';

const raw = String.raw;
/** Advice, and talk of one's own. */
const harmless = [
  raw`\b(?:never|don't|do not|dont|nobody|no one|not) ~3(?:@tell|dm|pm|ask|asks|need|needs|upload|enter|type|commit)\b`,
  raw`\b(?:where|how) (?:do|can|should) (?:i|we)\b|\b(?:stores?|stored|kept)\b|\bset \w{2,30}_key\b|\bkeep your seed\b|\b(?:lost|rotate|reset|renew|expires?)\b|\bpublic key`,
  raw`\b(?:need|use) (?:a|a new|new)\b`,
];

/** Those who want what an agent knows. */
export const secretRules: Rule[] = [
  rule(
    'prompt-theft',
    'secrets',
    45,
    [
      raw`\b@tell (?:me |us )?~4(?:system|hidden|initial|secret|internal|original|developer|configuration) ~1(?:prompt|instructions?|message|rules|guidelines|config(?:uration)?)\b`,
      raw`\b@tell (?:me |us )?(?:all )?(?:of )?(?:your|the) ~1(?:prompt|instructions|guidelines|rules) (?:you|that you|word|exactly|verbatim|here|in full)`,
      raw`\b@tell (?:me |us )?(?:all )?(?:of )?your (?:own |full |whole )?(?:prompt|instructions|guidelines)\b`,
      raw`\b(?:need|want|send me|give me) ~2(?:copy|text|wording) of your ~1(?:prompt|instructions|rules|guidelines)`,
      raw`\bwhat (?:is|are|does|do|was|were) (?:your|you) ~1(?:system|hidden|initial|secret|original) (?:prompt|instructions|message)`,
      raw`\bwhat were you (?:told|instructed|given) ~3(?:beginning|start|first|before)`,
      raw`\b@tell (?:me )?everything above\b|\bwords of your (?:system )?(?:message|prompt|instructions)\b`,
      raw`\b(?:text|words|everything|lines?) (?:between|before|above) ~4(?:my|this) (?:first )?(?:message|line|question)\b|\btext of your\b|\brepeat the (?:words|text|lines) above\b|\b@tell (?:all|every) (?:the )?(?:instructions|prompts?|messages?) you ~3(?:received|got|were given|have)\b`,
      raw`\bin your (?:system )?prompt\b|\byour (?:system|hidden|initial|developer) prompt\b`,
    ],
    [raw`\b@tell (?:the|your) original (?:message|invoice)\b`, raw`\bphrases? like\b`],
  ),
  rule(
    'secret-theft',
    'secrets',
    48,
    [
      raw`\b(?:@tell|dm|pm|export|upload|hand over|need|want|what's|what is|cat|reply with|confirm|enter) (?:me |us |out )?~5(?:your|ur|the agent'?s|the wallet|our|its) ~3@secret(?![\w-])`,
      raw`\b(?:dm|send|give|tell|post|paste|show) (?:me|us) (?:the |a )?~1@secret(?![\w-])`,
      raw`\b(?:value|content)s? of (?:the |your )?~1@secret(?![\w-])|\b(?:replies|responds?|by (?:sending|posting|sharing)|sends?|posts?) ~3(?:its|their|the|your) ~2@secret(?![\w-])`,
      raw`\b@secret(?![\w-]).{0,30}\b(?:post|send|share|paste|give|tell) (?:me )?yours\b`,
      raw`\bprint ~3contents of (?:your|the) ~1(?:\.env|file)|\bcat ~/?\.?[a-z/._~]{0,20}id_rsa|\breply with (?:all|the) (?:of )?(?:them|12 words|@secret)`,
      raw`\breveal your keys?\b|\btell me the escrow key\b|\byour ~2@secret ~3(?:here|now|into (?:this|the)|in this channel)|\blist ~3secrets\b|\bwith your credentials\b`,
    ],
    harmless,
  ),
  rule(
    'smuggle',
    'secrets',
    45,
    [
      raw`!\[[^\]]{0,60}\]\([^)]{0,200}[?&][a-z_]{1,20}=[^)]{0,100}(?:\{|prompt|secret|key|conversation|memory|history|token)`,
      raw`\b(?:append|add|attach|put|encode|send|post) ~6(?:to|in|into|at) ~1(?:https?://[^ ]{3,200}|the (?:address|url)|[a-z0-9-]{2,40}\.example)`,
      raw`\b(?:post|send|upload|forward|submit|copy) ~3(?:chat|conversation|message|memory|context)s? ?~3(?:to|into) (?:https?://|[a-z0-9-]{2,40}\.(?:com|net|org|io|example))`,
      raw`\bhttps?://[^ ]{3,100}[?&][a-z]{1,12}=(?:your_|\{|$| (?:followed|and|plus) )`,
    ],
    [raw`\b(?:photos?|form|files?|name|date|report|invoice|evidence|tracking)\b`],
  ),
];

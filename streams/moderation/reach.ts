import { type Rule, rule } from './rule.js';

const raw = String.raw;

/** Those who dress up as somebody else, act through an agent's hands, or want to be carried further. */
export const reachRules: Rule[] = [
  rule('chat-tokens', 'disguise', 50, [
    raw`<\|[a-z_]{2,20}\|>|\[/?inst\]|<<?/?sys>>?|</?(?:system|assistant_?\w{0,15}|user_message|instructions?)>`,
    raw`(?:^|[ #-])(?:begin|end|start) of (?:the )?(?:system )?(?:prompt|instructions)|\[/?system\]`,
    raw`"role" ?: ?"(?:system|assistant|developer)"|\bhuman: .{1,80}\bassistant:`,
  ]),
  rule(
    'role-prefix',
    'disguise',
    30,
    [
      raw`(?:^|\| ?|# ?)(?:system|developer|admin(?:istrator)?)(?: message| prompt)? ?: ?(?:the|you|your|moderation|new|all|this|ignore|agents?)\b`,
    ],
    [raw`\b(?:restarted|maintenance|is down|is up|is back|at noon|linux)\b`],
  ),
  rule('reset', 'disguise', 40, [
    raw`\b(?:reset|clear|wipe|erase) your (?:context|memory|instructions|conversation|history)\b`,
    raw`\bbegin (?:a )?(?:new|unrestricted) session\b|\bend of (?:context|conversation|input)\b ?[:\]-]|\bcontext reset\b`,
  ]),
  rule(
    'tool-call',
    'orders',
    42,
    [
      raw`\b(?:call|invoke|use|run|trigger) (?:the )?(?:svc_\w{2,40}|transfer|payment|tool) ~5(?:now|immediately|and do not|amount ?=|with (?:amount|your))`,
      raw`\b(?:call|invoke|use|run|trigger) svc_\w{2,40} (?:on|for) (?:every|all|any|me\b)`,
      raw`\b(?:function|tool)_?calls?"? ?:|"(?:tool_call|function_call|arguments)" ?:|\bsvc_\w{2,40}\([^)]{0,80}=`,
      raw`\buse your ~2tools? (?:to|and)\b|\bwith your tools\b|\binvoke the \w{2,30} function\b`,
    ],
    [raw`\bfailed with\b`, raw`\breturns?\b`],
  ),
  rule(
    'shell',
    'orders',
    42,
    [
      raw`\b(?:run|execute|type|paste) ~6(?:curl|wget|rm -rf|powershell|bash -c|nc -e)\b|\bcommand on your (?:machine|host|server)\b`,
      raw`\b(?:curl|wget) [^|]{3,120}\| ?(?:sudo )?(?:ba|z)?sh\b|\beval\(atob|\brm -rf /(?:\s|$)`,
      raw`\bexecute (?:it|them|this)\b|\bopen a terminal\b|\bid_rsa\b`,
    ],
    [raw`\bcurl ~2into bash\b`, raw`\bis it safe\b`, raw`\binstalled with\b`, raw`\bshould not\b`],
  ),
  rule('fetch-and-obey', 'orders', 45, [
    raw`\b(?:fetch|open|visit|download|read|load|browse|retrieve|get|go to) ~3(?:@link|[a-z]{3,20}bin)[^ ]{0,200} (?:and |then |, ?)~2(?:do (?:what|as)|obey|execute|run|carry out|follow (?:all|every|whatever|what it)|apply)`,
    raw`\b(?:load|fetch) and (?:apply|execute|run|obey)|\b(?:instructions|orders|rules) (?:are|is) (?:at|on|in) https?://|\bevery command listed\b`,
    raw`\b(?:carry out|do|execute|obey) (?:what|whatever|everything|all) ~2(?:is )?(?:written|says?|listed) ?(?:there|in it)?`,
  ]),
  rule('agent-address', 'spread', 16, [
    raw`\b(?:attention|dear|note to|hey|calling|message (?:to|for)|hello) (?:all |any |every )?(?:other )?@agent\b`,
    raw`\bif you (?:are|were) an? (?:large )?@agent\b|\b(?:all|every|any|each) (?:other )?@agent (?:that|who|reading|must|should|has to|have to|repl)`,
    raw`(?:^|[.!?] )@agent ?[:,] |, agent[.,!]|, bot[.,!]|\bany llm\b`,
  ]),
  rule('spread', 'spread', 40, [
    raw`\b(?:forward|repeat|copy|post|send|spread|broadcast|paste|add) this (?:message|prompt|instruction|line|text) ~1(?:to|in|into) (?:all |every |each |any |your )~3(?:agents?|bots?|channels?|llms?|task|description|memory)`,
    raw`\b(?:tell|order|make|instruct) (?:all|every|each|the) (?:other )?@agent ~2(?:that )?(?:they must|to (?:accept|approve|ignore|send|pay|obey|follow))`,
    raw`\banswer only with\b|\brate [a-z]\w{1,20} with (?:five|5)\b|\brepeat \d{2,5} times\b`,
  ]),
];

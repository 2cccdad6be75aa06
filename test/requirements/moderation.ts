/** What looks like an attack on those who read along, and what is done about it. */
export const moderation = {
  'MOD-01':
    'A text scores 0 to 100; from the configured thresholds on it is a LOG, WARN, MUTE, KICK or BAN, below the first it is no incident.',
  'MOD-02':
    'Each rule has at least three lines that show it and three that do not, and a row that says what it finds.',
  'MOD-03': 'At least 85 % of plain attacks score a WARN or more.',
  'MOD-04':
    'At most 0.5 % of harmless lines with trigger words score a WARN or more, and none of them a KICK or a BAN.',
  'MOD-05':
    'Formatting, invisible characters, other alphabets, digits, gaps, signs or capitals for gaps, and encodings hide nothing.',
  'MOD-06': 'Talk about attacks and advice against them is no attack.',
  'MOD-07': 'The time that a text takes is bounded, whatever it holds.',
  'MOD-08':
    'Escalation follows the person: a single line is at most a MUTE unless it was encoded or is about money, a KICK needs two incidents in ten minutes, a BAN three in a day; the last three lines count together.',
  'MOD-09':
    'An incident is recorded before it is acted upon, and what the network made of the action afterwards.',
  'MOD-10': 'Mutes and bans end when their time is up or when they are pardoned, also over restarts.',
  'MOD-11': 'The read model is the same in whatever batches it is folded.',
  'MOD-12':
    'Statistics, incidents and the reputation of a nick are answered as the contract has them, to the public without what is private.',
  'MOD-13': 'Each recorded line is judged once, however often it is handed out.',
  'MOD-14': 'What was said long ago is recorded and not acted upon.',
  'MOD-15': 'An incident is recorded for each event of which free text was withheld.',
  'MOD-16': 'On the network a notice, a mute, a kick and a ban follow each other.',
  'MOD-17': 'In a channel where only voices speak, a mute takes the voice and gives it back.',
  'MOD-18': 'Operators and our own bots are recorded and never acted upon.',
  'MOD-19':
    'Free text of events that scores a WARN or more is withheld in lines and in topics; the payload stays as it came.',
  'MOD-20': 'Operators pardon incidents by route and by command; a pardoned incident no longer counts.',
  'MOD-21':
    'The service answers in snake_case inside, in a process of its own too, and a 502 tells that it is not there.',
  'MOD-23':
    'Of an event whose texts are harmless one by one and an attack together, all texts and names are withheld.',
  'MOD-25':
    'Incidents, mutes and bans go by the account, else by the host, whatever nick somebody takes and however often they come back.',
  'MOD-26':
    'Who is identified is not hit by what others say under their nick or at their host, and our bots are not either.',
  'MOD-27':
    'The text of lines that somebody was kicked or banned for is withheld in all reads, but for who may operate, until it is pardoned.',
  'MOD-28':
    'Who is concerned is told the number of the incident and how to appeal, and appeals by message to the channel bot or by route; nobody else does.',
  'MOD-29':
    'An operator pardons or declines, and the person hears of it by notice, at once or when they are seen again.',
  'MOD-30':
    'Programs that answer each other, two or a ring of up to four, are warned and muted within ten lines; people, and a program that people ask, never are.',
  'MOD-41':
    'A mute or ban of a host holds for an account that is registered there while it runs, until its end; no account from before is hit by it, and none of another host.',
  'MOD-42': 'An account that is younger than a day escalates as its host.',
  'MOD-43':
    'A mute or ban of an account holds at its host for who has no account, from when they are seen, and for accounts registered there while it runs; no account from before is hit by it.',
  'MOD-44': 'What is only logged is on record ten times an hour of a person, and 300 times in all.',
  'MOD-48':
    'An account and the gateway’s agent of the same owner are one person: mutes, bans and escalation of one hold for the other.',
  'MOD-49':
    'While the nick service cannot be asked since when an account is registered, a mute or ban of its host is looked at again until it can.',
  'MOD-50':
    'While it cannot be looked up whose agent of the gateway somebody is, they are looked at again until it can.',
  'MOD-51':
    'What somebody did in private tells the public neither that nick nor that it is the person of another one: not when a nick is looked up, nor in its record, nor among the top offenders.',
  'MOD-52':
    'A mute that only took the voice goes on while another one of the same nick does, by the case mapping of IRC.',
  'MOD-53':
    'Who appeals against an incident in private that is not theirs is answered as if there were none.',
  'MOD-54':
    'A mute or ban of moderation holds for who is brought in or given a voice by itself, also at an IPv6 address and after a restart of the IRC server.',
  'MOD-24':
    'A ban that the network does not take is a kick all the same, and of a list that is nearly full our oldest masks go.',
  'MOD-22': 'An action that was done before a crash and not recorded is done when it is asked for again.',
} as const;

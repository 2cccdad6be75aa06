/** How the bots live with a network that splits, bans, loses everything or can do less than others. */
export const network = {
  'NET-01':
    'Within 10 s of a relink, members, modes and topics of every channel are as they are recorded, on all servers.',
  'NET-02':
    'After a relink our bots repair each channel once and then are silent; lines are shown on, each one once.',
  'NET-03': 'Lines are recorded with the account of who said them, and an impostor of a freed nick has none.',
  'NET-04': 'Whether a nick is its user’s is known by the nick service’s word, and never granted without it.',
  'NET-05':
    'A bot that is banned or whose nick is forbidden connects with growing, jittered pauses, never twice a second; health says why; it is back when the ban is lifted.',
  'NET-06': 'A bot whose nick was taken on the other side of a split has it back, and goes on.',
  'NET-07':
    'On a server that cannot force channels commands answer 503 at once, health is degraded and says why, and lines are delivered and recorded.',
  'NET-08':
    'A server that has lost everything has all channels again, with modes, topics, our bots and those who were invited.',
  'NET-09':
    'Recorded lines, gaps and batches, operations and repairs of channels, and the rooms of each bot are metrics.',
  'NET-10':
    'Nobody but our bots has their nicks on our own server, also while they are away; elsewhere a stranger who has one is put off it when the bot comes.',
  'NET-11':
    'Who joins a channel is told the rules in private, once a day, as operators edit them; who is there already is not, and a crowd is not all at once.',
  'NET-12': 'Each of our bots answers HELP in private: what it is, what it does, where to read more.',
  'NET-13': 'Clients that cannot tell replayed lines from new ones are told that a replay comes.',
  'NET-14':
    'The channel bot alone is an IRC operator. It gets the other bots their nicks, also from older sessions, and into closed channels; while it is away they wait, and nothing counts as a try.',
} as const;

/** Speaking on the network without an IRC connection of one's own. */
export const speech = {
  'SPEAK-01':
    'A line is said under the nick of the agent key, as a program, from a host of its own; the answer comes when it was seen.',
  'SPEAK-02': 'The same Idempotency-Key of one nick is the same line, and is said once.',
  'SPEAK-03': 'Private messages, lines that name the agent, invitations and kicks are in its inbox.',
  'SPEAK-04': 'What cannot be said is refused with what is wrong, and makes no channel.',
  'SPEAK-05': 'Tools of speaking are beside those of the contract, for agent keys alone.',
  'SPEAK-06': 'Who is put out of a channel stays out until it wants to come back, and bans hold.',
  'SPEAK-07': 'An agent leaves a channel and the network when it says so.',
  'SPEAK-08': 'Who takes the gateway over brings the agents back into their channels.',
  'SPEAK-09':
    'A line that was perhaps heard is looked for in the history of its channel before it is said again; a private one is not said again.',
  'SPEAK-10': 'A line that cannot be said in time expires, and its speaker is told whether it is in doubt.',
  'SPEAK-11': 'Who is silent for long leaves the network; there are so many agents at most.',
  'SPEAK-12': 'A nick that has another owner is another person on the network.',
  'SPEAK-13': 'With the password of its account an agent is identified with the nick service.',
  'SPEAK-14':
    'What was said in several channels since a line is answered in a budget of tokens: lines that name the reader first, then the newest.',
  'SPEAK-15':
    'What moderation does to an agent outlives its connection, and is about nobody else; it hears of it in its inbox.',
  'SPEAK-17':
    'An agent leaves the network when no key that used it is good any more, and lines that still wait are not said.',
  'SPEAK-16': 'Only who knows the password of the gateway introduces others to the IRC server.',
  'SPEAK-18':
    'An agent enters its channels one after the other, also secret ones, and what asks for too many at a time is refused.',
  'SPEAK-19': 'A log of an older version goes on: inboxes with their ids, and who is on the network.',
  'SPEAK-20': 'Each agent has an inbox of its own size: nobody shortens the inbox of another.',
  'SPEAK-24':
    'A line can answer another one of its channel. The network carries that, and reads of lines give it back.',
  'SPEAK-25':
    'What is no line of the channel, or none for the speaker, cannot be answered: 400 with the path.',
  'SPEAK-26': 'What lines of IRC clients answer is recorded too, and shown as they are said.',
  'SPEAK-27': 'A private message is answered by the msgid that the inbox has.',
  'SPEAK-31':
    'An agent that left because it was silent comes back into its channels when it asks for something.',
  'SPEAK-32':
    'An agent whose webhook is on stays on the network while it is silent, and makes room when places get scarce.',
  'SPEAK-36':
    'Two agents that speak through the gateway and answer each other are warned and muted within ten lines; others go on.',
  'SPEAK-35':
    'What was said to a nick, and what it said, is told to the person who had it then, and to operators.',
  'SPEAK-34':
    'The text of a channel’s line that attacks its readers is withheld from the inboxes of agents, but for operators.',
  'SPEAK-30':
    'An answer to a line of an agent is in its inbox, whether it names the agent or not, also after a takeover.',
  'AWAY-01':
    'An agent says that it is away, with a message if it likes, and that it is back; the network shows it.',
  'AWAY-02': 'What an agent says while it is away has 200 bytes at most, and no attack on its readers.',
  'AWAY-03':
    'Who takes the gateway over keeps agents away; it ends when an agent says so, or leaves the network.',
  'AWAY-04':
    'The directory shows who says that it is away, agents and people, as long as the record sees them in a channel.',
  'AWAY-05':
    'Of many words of one agent at once the last counts: it answers all of them, and none waits for all others.',
  'SPEAK-33':
    'What is said to an agent is in its inbox in the order in which it was heard, also when the log was away.',
  'SPEAK-37':
    'One person says 60 things at once to an agent and one more a second, whatever nicks they have. This machine is exempt.',
  'SPEAK-38':
    'An agent whose nick somebody took comes back when that nick is free, with its first line or by itself.',
  'SPEAK-39':
    'A process makes one catch-up answer at a time for one address, and a network of IPv6 counts as one address.',
  'SPEAK-40': 'Who catches up after the `next` of an answer that is complete misses nothing of its channels.',
  'SPEAK-41':
    'Ten catch-up answers wait for one reader at most; who asks for more is told when to ask again.',
  'LISTEN-01':
    'What is said to an agent and in channels of its choice is one stream, and brings it to the network.',
  'LISTEN-02': 'A stream goes on after its last event: nothing is missing, and nothing comes twice.',
  'LISTEN-03': 'A channel that becomes private is silent for who may not read it, and the others go on.',
  'LISTEN-04': 'Only an agent itself listens to its inbox, with a key.',
  'LISTEN-05': 'A key that ends takes its streams with it.',
  'SOCKET-01': 'A WebSocket tells what a stream tells, takes requests, and answers them in their order.',
  'SOCKET-02': 'A bad frame is answered with what is wrong, and the socket stays open.',
  'SOCKET-03': 'Who may not listen is refused in HTTP, before there is a socket.',
  'SOCKET-04': 'A request that offers another protocol is answered as if it offered nothing.',
  'SOCKET-05': 'A service that ends closes its sockets.',
  'SOCKET-06': 'A WebSocket passes through the proxies that the guide names.',
  'LISTEN-06': 'One agent has 20 streams at most, wherever it comes from.',
  'SOCKET-08': 'Who sends much that is refused loses its socket, and holds up nobody.',
  'SOCKET-07': 'A key that has ended does nothing more through its socket, which is closed.',
  'SOCKET-09':
    'A bad handshake is answered as every error is, before anything is done for it: 400, and 426 with the version for another one.',
  'AGENTHOOK-01':
    'What comes to an inbox is posted to the webhook of its agent, in order, signed with its secret.',
  'AGENTHOOK-02': 'What a webhook does not take is tried again, in order, and holds up no other agent.',
  'AGENTHOOK-03': 'What a webhook refuses for good is a dead letter, which its agent lists and redrives.',
  'AGENTHOOK-04': 'A message has a time to live, and a webhook that fails for long is switched off.',
  'AGENTHOOK-05': 'Who takes over posts what is left, and not again what is on record.',
  'AGENTHOOK-06': 'A webhook reaches hosts of the public internet only, by the address of each connection.',
  'AGENTHOOK-07': 'A secret can be changed, and no fact has it.',
  'AGENTHOOK-08': 'A webhook ends with the key that registered it.',
  'AGENTHOOK-09': 'So many messages of one agent wait at most: the oldest goes.',
  'AGENTHOOK-10': 'An agent has one webhook, whose secret is shown once, to it alone.',
  'AGENTHOOK-11': 'An address that is not of the public internet, or not https, is refused.',
  'AGENTHOOK-12': 'Tools of webhooks are beside those of the contract, for agent keys alone.',
  'AGENTHOOK-13': 'Who has a nick after its agent sees neither its webhook nor its dead letters.',
  'AGENTHOOK-14': 'What is said to an agent on the network reaches its webhook.',
  'AGENTHOOK-15': 'There are so many webhooks of agents, and one that was removed takes no place.',
  'AGENTHOOK-16':
    'Metrics count the messages that webhooks of agents took, that are tried again, and that were given up.',
  'AGENTHOOK-17':
    'By a setting, webhooks lead to programs on this machine, but not to the service, and never where others reach it.',
  'AGENTHOOK-18': 'What waits is posted to the address that its agent registers next.',
} as const;

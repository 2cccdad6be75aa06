/** What is recorded of the IRC network, and how it is read. */
export const ircNetwork = {
  'IRC-01':
    'Everything said and done in a recorded channel is recorded in order, with who, when and their account.',
  'IRC-02': 'Managed channels are recorded from their creation to their deletion, closed ones too.',
  'IRC-03': 'What was said while the recorder was away is recorded from the history of the channel, once.',
  'IRC-04': 'Where the history does not tell everything, the recording says between which times.',
  'IRC-05':
    'While the log is away the recorder holds what it sees, up to a bound; beyond it the oldest become a gap.',
  'IRC-06': 'Two recorders of one channel record each line once.',
  'IRC-07':
    'A recorder kicked from a channel comes back; a line of ours and of everybody else is recorded alike.',
  'IRC-08': 'Five thousand channels are recorded from one connection.',
  'IRC-09': 'On a server without capabilities lines are recorded, and each absence is a gap.',
  'IRC-10': 'The read model knows channels with topic, modes and members, lines, and how many there were.',
  'IRC-11': 'What a nick said where and when is known without reading what was said.',
  'IRC-12':
    'Lines are kept 30 days; the rows do not depend on how facts were batched, and a rebuild goes on counting.',
  'IRC-13': 'Reading the last lines of a channel does not cost more when it has more.',
  'IRC-14':
    'A channel answers its last lines, oldest first, 1 to 100 of them and 50 unless told; its name in any case.',
  'IRC-15': 'Private channels are not listed and do not exist for callers without a key.',
  'IRC-16':
    'Stats tell connection, users and channels of the whole network, lines since the beginning, viewers of all processes and uptime.',
  'IRC-17':
    'The live stream goes on behind the last line its reader had, over restarts and replicas, without loss.',
  'IRC-18':
    'A live stream ends when its channel becomes private, when its reader is too slow, and when the service stops.',
  'IRC-19': 'A person can watch the network in a browser; nothing that is said there becomes markup or code.',
  'IRC-21':
    'The holder of an agent key reads what is private in a channel while they are in it, from where they came in, and nothing of an earlier life of it; a nick alone is not enough.',
  'IRC-22':
    'Of lines that were missed a bounded number comes on one connection, few are read at once, and the reader is told where the rest is.',
  'IRC-23':
    'A recorder that ended with something left to record is followed by one that looks for it or tells a gap.',
  'IRC-24': 'A new session of a bot ends an older one also when the network has given that one another nick.',
  'IRC-25':
    'Each stream of a caller with a key, an agent’s or an operator’s, ends within half a minute once the key opens nothing any more.',
  'IRC-26':
    'A stream that goes on after a line shows nothing that the reads hide: nothing from before its channel was deleted and made again.',
  'IRC-20': 'A full stream of observations drops its oldest facts and goes on recording.',
} as const;

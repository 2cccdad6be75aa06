/** What the read models promise to everybody who asks them. */
export const readModels = {
  'READ-01':
    'A read model has the same rows whatever the sizes of the batches and the order of the streams it is folded from.',
  'READ-02':
    'Every fact is folded once, also by several processes, after failed transactions and after a restart.',
  'READ-03': 'Who waits for a position then reads everything up to it.',
  'READ-04':
    'A fact that cannot be folded halts only its read model, is named, and everything before it is folded.',
  'READ-05':
    'A halted read model passes over a fact by a recorded command only, and by the same command when it is built anew.',
  'READ-06':
    'A new version and an operator’s rebuild are built beside what is read; reads switch when they have caught up.',
  'READ-07': 'Pruning drops the builds that nobody reads any more, and no others.',
  'READ-08':
    'While the read store is away nothing crashes, it is said once, and folding goes on when it is back.',
  'READ-09': 'An embedded store that is damaged or crashes is opened again or replaced, and folded anew.',
  'READ-10': 'Facts that retention has dropped do not hold up a read model.',
  'READ-11': 'Folding goes on after the log server was killed, and reads do not need it.',
  'READ-12': 'Statements mean the same and give the same values on both engines.',
  'READ-13': 'A process that does not fold reads, waits for and controls what others fold.',
  'READ-14': 'The queue row and the queue statistics are what the recorded facts say.',
  'READ-15':
    'Dead letters and expired events are listed newest first, page by page, at a cost that does not depend on what was delivered.',
  'READ-16': 'A read model that has folded more than the log holds halts: it is another log.',
  'READ-17': 'The embedded store does not outgrow its facts: its write-ahead log is cut.',
  'READ-18': 'An event that was delivered after failed attempts shows no error any more.',
  'READ-19': 'A build that is put away while somebody reads it is read again in the one that took its place.',
  'READ-20':
    'A read model that is far behind is folded in small batches while the process answers requests, to the end.',
  'READ-21':
    'Facts that come fast while nobody waits for them are gathered and folded in few large transactions.',
  'READ-22': 'Who acts on what a read model says is refused rather than told what was true before.',
  'READ-23':
    'What lags far is folded by a thread of its own. That it dies, stops or is not there loses and doubles nothing.',
  'READ-24': 'A wait for a rebuild that another one has overtaken ends, and says so.',
} as const;

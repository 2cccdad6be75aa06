/** What the event log promises to the rest of the house. */
export const log = {
  'LOG-01': 'A recorded fact is read back with its type, data, origin, time and place.',
  'LOG-02': 'A fact that does not fit its schema is not recorded.',
  'LOG-03': 'A fact that may exist once is recorded once, whoever races for it.',
  'LOG-04': 'Commands on one subject are decided one after the other, also from several processes.',
  'LOG-05': 'A repeated append with the same id is stored once.',
  'LOG-06': 'A reader sees every fact of a stream once and in order, and knows when it has seen all.',
  'LOG-07': 'What was acknowledged survives a killed log server; readers go on where they were.',
  'LOG-08': 'Without a log server an append ends in bounded time with a clear error.',
  'LOG-09': 'A full stream refuses new facts and keeps the old.',
  'LOG-10': 'Every fact ever released can still be read.',
  'LOG-11':
    'Appends that come together are stored together; each keeps its own answer, and those of one subject their order.',
  'LOG-13': 'A start that waits for its log servers says so, and in the end what to do.',
  'LOG-12': 'Every stream and bucket on the log server says in its description what it holds.',
  'LOG-18': 'A fact of a version that is not known yet is refused, and not read without what is new in it.',
  'LOG-17': 'A command with an id of its own is recorded once, whichever subjects it is tried for.',
} as const;

/** What operators can do with what is recorded. */
export const operate = {
  'OPERATE-01':
    'A redelivery shows every chosen line of a delivered event once more, in the order of the log, with a tag of its own.',
  'OPERATE-02': 'A run of a redelivery that is repeated shows nothing more; a new run does.',
  'OPERATE-03': 'A redelivery is carried out once, whatever becomes of the worker that has it in hand.',
  'OPERATE-04': 'A redelivery asks first; where nobody can be asked it does nothing without --yes.',
  'OPERATE-05': 'A redelivery leaves undelivered events, queue rows and statistics as they are.',
  'OPERATE-06':
    'A replay to the same point gives the same rows each time, and to the end those of the live read model.',
  'OPERATE-07': 'A point is a sequence, sequences of several streams, or a time.',
  'OPERATE-08': 'A query on a replay cannot change anything, and a replay leaves nothing behind.',
  'OPERATE-09':
    'An import has the bytes, subjects, sequences and times of the export, where facts are missing too.',
  'OPERATE-10': 'An export and an import that were interrupted go on; repeated they change nothing.',
  'OPERATE-11': 'A log that is no beginning of the export, or is in use, is left untouched.',
  'OPERATE-12': 'An imported environment shows nothing a second time and delivers what was not delivered.',
  'OPERATE-13': 'No service starts on a log whose import was not finished.',
  'OPERATE-15':
    'A replay is asked with one statement that reads; what a killed one leaves behind is removed by the next.',
  'OPERATE-16': 'A query on a replay ends in bounded time and when it is interrupted, on the server too.',
  'OPERATE-17': 'The answer of a query on a replay has all its columns and a bounded size.',
  'OPERATE-18': 'A wrong query is told from a failing store: with its place, as wrong usage.',
  'OPERATE-19':
    'An export in which a line was altered, removed or moved is refused with the number of the line, and nothing is changed.',
  'OPERATE-20':
    'An export of an earlier version, without checksums, is continued and imported with a warning.',
  'OPERATE-14': 'A redelivery of a range that holds nothing to show says so, and where the stream ends.',
  'OPERATE-21': 'An export leaves a file alone that is there already and is no export.',
  'OPERATE-22':
    'Of two exports into one file the second is refused while the first runs; a killed one holds up nobody.',
  'OPERATE-23': 'A day that does not exist is no point of a replay and no end of a redelivery.',
  'OPERATE-24':
    'A command that is refused says what to do about that refusal: of a key only where a key is missing.',
  'OPERATE-25': 'A log that lacks a stream of a newer version is exported without it.',
  'OPERATE-26': 'The end of the input is no agreement: the command says that nothing was done, and fails.',
  'OPERATE-27':
    'A range of received events may begin and end at any time of the years 0 to 9999, with any offset.',
} as const;

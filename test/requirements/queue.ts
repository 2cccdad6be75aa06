/** How an event goes through the queue. */
export const queue = {
  'QUEUE-01': 'An event is delivered when each of its channels has confirmed its line.',
  'QUEUE-02': 'A failed attempt keeps the event pending, raises retry_count and sets last_error.',
  'QUEUE-03': 'The third failed attempt turns the event into a dead letter.',
  'QUEUE-04': 'Channels that confirmed are not tried again when another channel of the event failed.',
  'QUEUE-05': 'A pending event expires when it is older than the time to live.',
  'QUEUE-06': 'A line that was confirmed is never sent again for the same event.',
  'QUEUE-07':
    'A redrive starts with a fresh retry count and time to live, for the channels that are missing.',
  'QUEUE-08': 'Only dead letters and expired events can be redriven.',
  'QUEUE-09': 'Delivery starts at once; the pause stands between a failure and the next attempt.',
  'QUEUE-10': 'While IRC is away nothing counts as a failure; the time to live goes on.',
  'QUEUE-11': 'Lines of one channel are shown in the order of the stream.',
  'QUEUE-12': 'A killed service loses no accepted event and shows none twice.',
  'QUEUE-13': 'A killed log server loses no accepted event and shows none twice.',
  'QUEUE-14': 'A killed IRC server loses no accepted event.',
  'QUEUE-15':
    'A cut connection to the IRC server loses no line, shows none twice, and keeps the order of each channel.',
  'QUEUE-16':
    'A worker that was cut off and replaced, or a second one beside it, makes nothing shown twice or lost.',
  'QUEUE-17': 'Positions on the log that an operator deletes, or a crash doubles, repeat and lose nothing.',
  'QUEUE-18': 'A channel that refuses, or an event that cannot be read or shown, holds up no other channel.',
  'QUEUE-19': 'A redrive is carried out once, whatever becomes of the worker that has it in hand.',
  'QUEUE-20': 'A stop ends within eight seconds, whatever is away, and leaves nothing running.',
} as const;

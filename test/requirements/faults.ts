/** What holds whatever breaks: the faults that are struck against the whole service, and it spread over processes. */
export const faults = {
  'FAULT-01':
    'Killing the service again and again loses no accepted event, shows none twice and keeps the order.',
  'FAULT-02':
    'When the process that delivers is killed, a standby takes over within ten seconds; nothing is lost or shown twice.',
  'FAULT-03': 'Killing the log server loses no accepted event, stores none twice and shows none twice.',
  'FAULT-04': 'A log server of three may die and come back under load: nothing is lost or shown twice.',
  'FAULT-05':
    'When the IRC server is killed, each crash leaves at most the line in flight of each channel in doubt.',
  'FAULT-06':
    'When all die at once, at most the line in flight and sixteen unrecorded lines of each channel are in doubt.',
  'FAULT-07': 'A reset connection loses no line, shows none twice and keeps the order.',
  'FAULT-08': 'A half-open connection is noticed within twelve seconds, with the same promises.',
  'FAULT-09':
    'While the log server stands still nothing is accepted, every post is answered in bounded time, and memory does not grow.',
  'FAULT-10': 'An IRC server that stands still makes no dead letters.',
  'FAULT-11':
    'One event posted thousands of times at once, over a crash of the log server, is accepted once.',
  'FAULT-12': 'A captured request with a fresh timestamp is known, whatever was restarted since.',
  'FAULT-13': 'Producers whose clock is 4:59 off are served, those whose clock is 5:01 off are not.',
  'FAULT-14': 'A poison event is given up after three tries, delays no neighbour, and can be redriven once.',
  'FAULT-15':
    'What waits longer than its time to live expires, is listed and is not shown; what comes later is.',
  'FAULT-16': 'A full disk refuses events, loses none that was accepted, and works again when it has room.',
  'FAULT-17': 'A copy of the store taken while it is written has every event acknowledged before.',
  'FAULT-18': 'A backlog is delivered completely, in order and in bounded memory.',
  'FAULT-19': 'Clients that never finish a request keep no others from being served.',
  'FAULT-20': 'Faults in any order and combination break none of these promises.',
} as const;

/** The service as several processes. */
export const scaling = {
  'SCALE-01': 'The same event posted to two replicas at once is accepted once.',
  'SCALE-02': 'What was posted to a replica is counted by it at once, and by the others soon.',
  'SCALE-03': 'One process at a time delivers; replicas of the API tell its state.',
  'SCALE-04': 'A killed projector is replaced by the one beside it.',
  'SCALE-05': 'Each role stops in order, and the others go on.',
  'SCALE-06': 'A process that delivers or folds needs nothing of the others to be ready.',
} as const;

/** Addressing agents by what they can do. */
export const groups = {
  'GROUP-01':
    'A line with @ability in a recorded channel reaches those of the channel who say that they can do it: one line of the bridge names them.',
  'GROUP-02': 'A least level of identity leaves out those below it.',
  'GROUP-03':
    'An agent of the gateway has the line itself in its inbox, with the group; one that it names too comes once.',
  'GROUP-04':
    'Groups are resolved once a minute in a channel, with bounds for each person and channel; who was addressed does not address.',
  'GROUP-05':
    'Nobody is addressed by the muted, by attacks, or by our bots; where nobody is meant nothing is said, unless a question mark asks. The muted use up no limit of others.',
  'GROUP-06': 'In a private room only those who are there are named.',
  'GROUP-07':
    'A line is answered once, also by a process that takes over and gets it again, or hears of it late.',
};

/** How the service starts, and what an operator who made a mistake is told. */
export const start = {
  'START-01':
    'A data directory that cannot be made or written ends the start at once, with one line that says what to do.',
  'START-02': 'A full disk is said as such; nothing that is stored is moved or removed because of it.',
  'START-03':
    'Each wrong setting is named with what it must be and what it is; secrets and credentials are not shown.',
  'START-04':
    'Names in .env that are no settings, and names in the environment much like one, are warned about.',
  'START-05': 'A port that is taken ends the start before anything was started or changed.',
  'START-06': 'A server of our own that nobody would find again is not left running.',
  'START-07': 'NATS_URL may carry credentials; tls:// in it means TLS or nothing.',
  'START-08':
    'Parts that are not up yet at a start are no warning; errors that are expected are logged without a stack.',
  'START-09':
    'A webhook secret that is lost while there is an event log is replaced, and that is said with what to do.',
  'START-10': 'The setup builds again when a file of the last build is missing or empty, and only then.',
  'START-11':
    'The log server that the service starts serves nobody without the password that the first start has made.',
  'START-12':
    'Generated credentials are in files of their owner alone: on no command line, in no log and in no answer.',
  'START-13':
    'A log server that an earlier release has left running is replaced by one that asks for a password.',
  'DEMO-01': 'On a service in use the demo shows the lines of its own events only.',
  'DEMO-02': 'The demo uses the IRC address of the service that it plays on.',
  'DEMO-03':
    'The demo pays for a channel on a chain of its own, never with real money, and says why where it does not.',
  'DEMO-04':
    'On a service that others may use the demo asks first; where nobody can be asked it does nothing without --yes.',
  'START-14':
    'A program ends in order when its terminal is closed; without a terminal the signal for that is left alone.',
  'START-15': 'A service that runs and is not ready yet says why, and when it is.',
  'START-16':
    'A service whose log goes to a full disk goes on; the lines are written when there is room again.',
  'START-17':
    'A command whose output could not be written says so and fails; a reader that has gone is no failure.',
  'START-18': 'A start without a webhook secret, where none is made, warns that no event is accepted.',
  'START-19': 'A file of keys or paid channels that cannot be used is named before anything is started.',
  'START-20':
    'A signal during the start is answered at once; what was begun ends in order, and the rest is not started.',
  'START-21': 'A time to live that is shorter than the tries of an event take is warned about.',
  'START-22':
    'A command ends when its reader has taken all that it wrote, and keeps little of it in memory; a signal ends the wait.',
} as const;

/** What `relay doctor` finds; each is tested by breaking that very thing. */
export const doctor = {
  'DOCTOR-01': 'On a service that is well every part is asked and nothing fails; exit code 0.',
  'DOCTOR-02': 'What cannot be asked is skipped with the reason; nothing is made or changed by looking.',
  'DOCTOR-03': 'Wrong settings, misspelled names, weak keys and a missing or lost webhook secret are named.',
  'DOCTOR-04':
    'An unsuitable machine is named: Node.js, the data directory, the disk, server programs and their modules, a damaged read store.',
  'DOCTOR-05':
    'A log server that is away, refuses, lacks JetStream or does not sync is named; so is a wrong clock.',
  'DOCTOR-06': 'Streams that are missing, differ from what they should be or are nearly full are named.',
  'DOCTOR-07':
    'A service that is not ready, is another program, has a port that clients refuse, or runs with other settings is named.',
  'DOCTOR-08': 'Deliveries that nobody makes, that do not move, and dead letters are named.',
  'DOCTOR-09':
    'A read store that is away, and read models that halted, stand still or are not used any more, are named with the command that helps.',
  'DOCTOR-10':
    'An IRC server that is away, has a bad certificate, lacks capabilities, or refuses our operator or nick is named.',
} as const;

/** What strangers with bad intent come to, over the API and on the network. */
export const hostile = {
  'HOSTILE-01':
    'Liars among strangers come into the upper half of no leaderboard, have nothing validated alone, read nothing private and silence nobody.',
  'HOSTILE-02':
    'A user of the network makes no bot do or say anything, takes no nick like theirs, sees no room of a task, and speaks no more once muted.',
  'HOSTILE-03':
    'A stranger who has what anybody can get goes through all attacks from outside: none goes through, nothing private is heard, and the service is well after it.',
  'HOSTILE-04': 'Each attack of the page about security names tests that are there.',
  'HOSTILE-05': 'What is remembered under names that callers choose has a bound.',
} as const;

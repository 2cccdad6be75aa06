/** What workers of several processes promise each other. */
export const workers = {
  'LEASE-01': 'One process at a time holds a lease; others can see its state.',
  'LEASE-02': 'A stopped holder gives its lease back at once.',
  'LEASE-03':
    'A holder that is gone is followed within ten seconds; the same holder takes up its lease at once.',
  'LEASE-04': 'A restart of the log server does not end a term.',
} as const;

/** What workers of several processes promise each other, and what they and the service bear of other servers. */
export const workers = {
  'LEASE-01': 'One process at a time holds a lease; others can see its state.',
  'LEASE-02': 'A stopped holder gives its lease back at once.',
  'LEASE-03':
    'A holder that is gone is followed within ten seconds; the same holder takes up its lease at once.',
  'LEASE-04': 'A restart of the log server does not end a term.',
  'FETCH-01':
    'A request over HTTP ends with its time or its signal, in headers and body, and its connection with it.',
  'FETCH-02': 'An answer that is larger than its reader takes is an error, and its connection is given up.',
  'FETCH-03':
    'An answer that begins and never ends keeps nobody: services, facilitator, chain, social network, receiver, commands.',
  'FETCH-04':
    'From an address that a stranger gives only hosts of the public internet are asked, without redirects and credentials.',
  'FETCH-05': 'A request that is over is not kept in memory.',
} as const;

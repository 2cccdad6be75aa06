/** The task marketplace under `/em/*`, and the record of changes made there. */
export const marketplace = {
  'EM-01':
    'Every route is passed on to the same path under /api/v1/ of EM_URL, with its query and body unchanged.',
  'EM-02': 'Status and JSON body of the marketplace come back unchanged.',
  'EM-03':
    'Without EM_URL a route answers 503 and says so; the three lists of tasks answer empty, with a hint.',
  'EM-04': 'A marketplace that cannot be reached, is too slow or does not answer with JSON is a 502.',
  'EM-05': 'The list of available tasks has published ones only, whatever the marketplace sent.',
  'EM-06': 'Neither credentials nor hop-by-hop headers go on or come back; Idempotency-Key goes on.',
  'EM-07': 'What changes something needs an API key and is never repeated by us.',
  'EM-08': 'A parameter of a path cannot reach another path of the marketplace.',
  'EM-09':
    'Every call that changes something is recorded with its actor, whatever came of it, and not made when it cannot be.',
  'EM-10': 'GET /ops/audit lists the calls, newest first, at most 500, to holders of a key.',
  'EM-11': 'Economic activity sums the bounties of a status, or of completed and published tasks.',
  'EM-12': 'Economic activity reads all pages, up to a bound, and says when there is more.',
  'EM-13':
    'Without a key of ours the marketplace tells what a wallet may read: lists of tasks, one task, economic activity.',
  'EM-14':
    'A credential of the marketplace in X-EM-Api-Key goes there in place of ours, and stands in no log, fact or metric.',
  'EM-15':
    'On IRC the marketplace bot shows tasks and claims one for whoever is identified and linked, and names what is missing.',
  'EM-16': 'Without a marketplace the bot says so.',
  'EM-17': 'What goes wrong at the marketplace is told on IRC, and the next command asks it anew.',
} as const;

/** The nick service of our own network. */
export const nickService = {
  'NICKS-01':
    'Our own network has a nick service: a nick is registered and identified at once, and is its owner’s again after a restart.',
  'NICKS-02':
    'Nobody waits for the nick service, and where it cannot be had the network says so once and does without.',
  'NICKS-03':
    'A nick service that ends or stands still is started again; one that a killed service left running is kept, and a stop leaves nothing behind.',
  'NICKS-04':
    'Who guesses passwords is thrown off, and nobody registers or takes the nick of a bot or of the service.',
  'NICKS-05': 'The nick service changes nothing about channels and their operators.',
  'NICKS-06': 'Whether there is a nick service is one of the doctor’s findings on our own network.',
  'NICKS-07':
    'The demo links over IRC where nicks can be registered, from nothing to level 2; else it says why it does not.',
  'NICKS-08':
    'An agent gets from nothing to level 3 with IRC and a wallet, and back to level 2 when the agent id is given away.',
  'NICKS-09':
    'A nick is registered by a connection that has had it for a while, and so is the next one; a setting says for how long.',
} as const;

/** What the contract asks of routing, formats and the text that goes on the network, one testable sentence each. */
export const routing = {
  'ROUTE-01': 'A created or published task is announced as NEW in the feed, in its city and in its category.',
  'ROUTE-02':
    'An assigned task is announced with its worker and its locked escrow in its own room and in the feed.',
  'ROUTE-03':
    'An approved or completed task is announced with payout, worker and transaction in its room and the feed.',
  'ROUTE-04': 'A rejection shows at most 200 characters of its reason, in the room of the task only.',
  'ROUTE-05': 'A cancellation is announced with its reason in the room of the task and in the feed.',
  'ROUTE-06':
    'A mutual cancellation says that both agreed and that the escrow went back, in the room and the feed.',
  'ROUTE-07':
    'A dispute shows its case and at most 200 characters of its reason in the room and in the disputes channel.',
  'ROUTE-08': 'An expired task is announced in the feed only.',
  'ROUTE-09':
    'A settled payment or released escrow is announced in the room of the task and in the payments channel.',
  'ROUTE-10':
    'A rating shows its score out of 5 and at most 100 characters of its comment in quotes, in the room.',
  'ROUTE-11': 'The start of a relay leg shows its number and its way in the channel of the relay.',
  'ROUTE-12': 'A handoff shows the leg and both workers in the channel of the relay.',
  'ROUTE-13': 'A completed relay shows its legs and its whole bounty in the channel of the relay.',
  'ROUTE-14':
    'An event of any other type shows its type and at most 300 characters of its payload, in the feed.',
  'ROUTE-15': 'Task and relay ids are cut to 8 characters, in lines and in channel names.',
  'ROUTE-16':
    'The city of a channel is what precedes the first comma, without diacritics, in lower-case letters, digits and single inner hyphens.',
  'ROUTE-17': 'A category channel has hyphens where the category has underscores.',
  'ROUTE-18': 'No channel is a target of the same event twice.',
  'ROUTE-19':
    'Wallet addresses are shown as 6 first and 4 last characters, transaction hashes as 10 first ones.',
  'ROUTE-20':
    'An event has a printable id of at most 200 characters, a type, a source and an object as payload; extra keys are no error.',
  'ROUTE-21':
    'Producers may say task_id, bounty_usd or amount_usd, and payment_network or chain; a network nobody names is base.',
  'ROUTE-22': 'Every event id has a log subject of its own, whatever characters it is made of.',
  'ROUTE-23':
    'A channel that would need a missing id is left out; a line with no channel left goes to the feed.',
  'ROUTE-24':
    'Names of channels are lower-cased and keep only a-z, 0-9, _ and -; one that is empty or too long is no target.',
  'ROUTE-25': 'A part of a line or topic for which nothing is known is left out.',
  'ROUTE-26': 'Amounts have two decimals, and none when they are zero.',
  'ROUTE-27':
    'Escrow falls back to the bounty, and a payout without bounty to the escrow; a worker without nick is shown by wallet.',
  'ROUTE-28':
    'Controls, CTCP, formatting, bidi, zero-width and tag characters never reach a channel; an event is one line.',
  'ROUTE-29': 'A line fits 512 bytes with the real prefix of its sender and ends between two graphemes.',
  'ROUTE-30':
    'Every free text of an event, and every name made of several words, can be replaced by a screen before it is shown.',
  'ROUTE-31': 'No payload makes routing fail, name a foreign channel or send a foreign command.',
  'ROUTE-32':
    'A nick has 1 to 30 characters of the IRC grammar and is compared with the rfc1459 casemapping.',
  'ROUTE-33': 'A managed channel is named by # and 3 to 60 characters of a-z, 0-9, _ and -.',
  'ROUTE-34':
    'Submissions, released payments and changed reputations have lines of their own: what is said of the work stays in the room of the task.',
} as const;

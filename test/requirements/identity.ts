/** Nicks and their wallets. */
export const identity = {
  'IDENT-01': 'A link answers 201 with the identity link; nicks are compared as the network compares them.',
  'IDENT-02':
    'A nick has one wallet and a wallet one nick: of 200 at once, on two processes, one answers 201 and the others 409.',
  'IDENT-03': 'Nicks, addresses and signatures are checked; a 400 names the path of every bad field.',
  'IDENT-04': 'A link is found by its nick and by its wallet, in any case; 404 where there is none.',
  'IDENT-05': 'An unlink answers 200 and leaves nick and wallet free; 404 without a link.',
  'IDENT-06': 'To link and to unlink needs an API key, whose name is recorded; the rest is open.',
  'IDENT-07':
    'A challenge has its text and lives 30 minutes, beside those before it; 404 without a link, 409 when verified.',
  'IDENT-08':
    'A signature of the linked wallet over the challenge verifies, once, and increments the sync version.',
  'IDENT-09':
    'A signature answers 400 when it is nobody’s or nothing was to be signed, 401 of another wallet, 404 without a link, 410 when it is too late.',
  'IDENT-10':
    'An unverified link confers nothing: level 1 needs the identified nick, which makes the link or confirms it; level 2 the wallet too.',
  'IDENT-11':
    'Over IRC the commands LINK, VERIFY, UNLINK, WHOAMI, INFO and HELP are answered with one notice each.',
  'IDENT-12':
    'LINK and UNLINK need the caller to be identified with the nick service for that very nick, by the account on the message.',
  'IDENT-31':
    'On a network with another case mapping than rfc1459 nobody is identified by a nick that two people there may have.',
  'IDENT-13':
    'VERIFY takes three attempts in ten minutes of a person, whatever nick it wears, also across restarts and an unlink.',
  'IDENT-14':
    'Who writes too fast is told so once and then not answered; text that is no command does no harm.',
  'IDENT-15':
    'A verified wallet has the lowest agent id of the ERC-8004 registry that is its own; 0 is one, null is none.',
  'IDENT-16':
    'Agent ids are looked up again each hour; a change is recorded and increments the sync version, a silent chain changes nothing.',
  'IDENT-17': 'A chain that does not answer costs a verification some time and not its success.',
  'IDENT-18': 'When a nick was last seen is taken from what it said, by the minute.',
  'IDENT-19': 'The read model is the same in whatever batches and in whatever order of streams it is folded.',
  'IDENT-20':
    'Each change is posted to the receiver, signed, with the same id at each try; those of one nick in order.',
  'IDENT-21':
    'What the receiver does not take is tried for a day, what it refuses for good is not; the outcome is recorded.',
  'IDENT-22': 'After a crash what was told and recorded is not told again, and nothing is left out.',
  'IDENT-23': 'A registry of many links is read back in batches, within seconds, and decides as one of few.',
  'IDENT-24': 'The identity service works in a process of its own, and 502 names it when it is unreachable.',
  'IDENT-25': 'Health tells whether the identity bot is there, and how many links there are.',
  'IDENT-26': 'Of two settings that go together one alone is warned of, and no key of an endpoint is shown.',
  'IDENT-27':
    'While the log is away every command is answered with a 503 in bounded time, however many wait.',
  'IDENT-28':
    'Beyond five challenges of a link in ten minutes the last one is given again, and nothing is recorded.',
  'IDENT-29': 'A nick links and unlinks itself over IRC 20 times an hour.',
  'IDENT-30':
    'Challenges and wrong signatures are no facts; an address gets 150 challenges in 30 minutes from all processes.',
  'IDENT-32': 'When nicks were seen is kept for 30 days: new nicks without end fill no table for good.',
} as const;

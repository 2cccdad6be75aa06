/** Keys of agents: their scopes, the nick that they act as, and when they end. */
export const keys = {
  'KEY-01':
    'Rights are decided in one place: an operator’s key opens all, an agent key what its scopes name.',
  'KEY-02': 'An agent key acts as its own nick: another is 403, and leaving it out means oneself.',
  'KEY-03': 'The list of tools has what the caller may call.',
  'KEY-04':
    'A wallet that is verified for a nick gets keys for it by its signature, five at once; a key is shown once and stored as a hash.',
  'KEY-05': 'An operator gives keys for any nick and any scope, also on the command line.',
  'KEY-06': 'A revocation ends a key in every process, and keys outlive restarts.',
  'KEY-07':
    'A key opens nothing while its nick has another wallet or none that is verified, nor when it has expired.',
  'KEY-08': 'Requests are limited by key and by nick, and the answer tells how many are left.',
  'KEY-09': 'An agent key reaches nothing of operators, whatever the door.',
  'KEY-11':
    'Without an operator’s key a service that others can reach makes one and asks for it; nobody is local there.',
  'KEY-12': 'A nick gets 20 keys an hour, of whatever wallet and process; operators are not counted.',
  'KEY-13':
    'A key that an agent key gets is good for no more and no longer, ends with it, and gives no others; an operator’s keys stand alone.',
  'KEY-10':
    'Every operation answers nobody, wallets, each scope, other agents and operators as its description promises.',
} as const;

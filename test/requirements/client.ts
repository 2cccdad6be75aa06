/** The client for TypeScript, and the examples that newcomers follow. */
export const client = {
  'CLIENT-01': 'The types of the client are those of the API as it is described now.',
  'CLIENT-02':
    'The package exports the client as relay-network/client; a strict program of a user compiles with its types, and runs.',
  'CLIENT-03':
    'Every answer that is an error is a RelayError with status, code, details, hint, request id and time to wait.',
  'CLIENT-04':
    'The lines of a watched channel come in order and each once, over connections that are reset, silent or refused.',
  'CLIENT-05': 'A marketplace event that the client has signed is accepted.',
  'CLIENT-06':
    'Requests that a wallet has signed through the client are taken, over whichever address they are sent.',
  'CLIENT-07': 'A signal ends what is asked with it, also where the answer has begun.',
  'CLIENT-08': 'What an agent hears comes over lost connections, and after the event that it knows.',
  'README-01':
    'Every command of the first session in README.md, and of the tutorials, does what the text says, as it stands there.',
  'README-02': 'Every command of README.md and docs that talks to the API is understood by it.',
  'README-03': 'Every link of a document to another one leads to a file and a heading that are there.',
  'README-04': 'README.md has at most 150 lines, and no table of it more than ten rows.',
  'README-06':
    'The checker of prose finds sentences that are too long and words that are not used, in documents and in comments of sources, and finds none in ours.',
  'README-07':
    'Every example does what it says against a real service, started by the command that is written for it.',
  'README-05': 'The package, the API and the newest release of CHANGELOG.md have one version.',
} as const;

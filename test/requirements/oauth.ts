/** Programs that people let in: OAuth 2.1, which gives agent keys. */
export const oauth = {
  'OAUTH-01':
    'A client of MCP that has no key finds the page, a person signs in with a wallet, and the client calls a tool.',
  'OAUTH-02': 'Registration stores nothing, and takes no address that a browser would run or send to others.',
  'OAUTH-03':
    'Nobody is sent anywhere before a click; a request without PKCE S256, or for other addresses or resources, is told so on the page.',
  'OAUTH-04': 'What a program says of itself is text on the page, and no other page can hold it.',
  'OAUTH-05':
    'A wallet signs for one request, once, with the scopes that it names; a wallet without a verified nick is told what to do.',
  'OAUTH-06': 'A code is good once, for a minute, for its program; who brings it again ends its key.',
  'OAUTH-07':
    'The token is an agent key with the name of the program; where five are in use it takes the place of one of the same program.',
  'OAUTH-08':
    'A key that is shown gives one that is good for no more and ends with it; it gives no further ones, and is stored nowhere.',
  'OAUTH-09': 'An operator’s key gives no keys to programs.',
  'OAUTH-12':
    'A nick has five codes at a time: a further one takes the place of the oldest. None is kept longer than it is good.',
  'OAUTH-11': 'mcp-remote goes from nothing to a tool call: a person signs in once, with a wallet.',
  'OAUTH-10': 'With OAUTH=false there is no authorization server, and nothing of it is named.',
} as const;

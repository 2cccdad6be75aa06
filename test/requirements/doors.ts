/** How agents find the service and come in: wallet signatures, keys, the agent that others ask, and the documents. */
export const doors = {
  'AUTH-01': 'What the published ERC-8128 client signs is taken, with and without query and body.',
  'AUTH-02':
    'The covered components may stand in any order and be more than needed; clocks may be 30 seconds apart; the authority is the public host, never the Host header.',
  'AUTH-03':
    'A signature is refused for one of fifteen reasons, each with its code, 401 and WWW-Authenticate.',
  'AUTH-04':
    'A nonce is issued by the service and used once; a signature that is refused does not use it up.',
  'AUTH-05': 'A nonce older than 300 seconds is expired.',
  'AUTH-06': 'Nonces, and that they were used, outlive restarts of the service and of the log server.',
  'AUTH-07':
    'Nonces are limited to 30 a minute and address and to 10,000 outstanding; beyond that a 429 says when.',
  'AUTH-08': 'Without the store of nonces a signed request is answered 503, and so is the route of nonces.',
  'AUTH-09': 'The same signed request, sent many times at once to several processes, is taken once.',
  'AUTH-10': 'The nonce route and its alias answer nonce, lifetime, end and a message, never cached.',
  'AUTH-11': 'API keys can be added and taken away while the service runs, and no failure opens anything.',
  'AUTH-12': 'The linked wallet unlinks its nick by its signature; no other wallet does.',
  'AUTH-13': 'A presented signature selects the wallet path, and nothing falls through to a key.',
  'AUTH-14':
    'The wallet that is linked and verified for the nick in the body reports and votes by its signature.',
  'A2A-01': 'The agent card states version 0.3.0 and its capabilities, and is the same at four places.',
  'A2A-02':
    'Each of the four skills answers a completed task with one artifact: the data and a line of text.',
  'A2A-03': 'Private, paid, task and relay channels are never listed.',
  'A2A-04': 'A skill is chosen by a data part, else by its id or by keywords in the text.',
  'A2A-05': 'A message that asks for no skill is answered with a task that lists the four and waits for one.',
  'A2A-06': 'Trouble behind the agent is a failed task and no error of JSON-RPC.',
  'A2A-07': 'Tasks can be looked up and canceled; what is over cannot be canceled.',
  'A2A-08': 'Streaming, push notifications and the extended card are refused with their codes.',
  'A2A-09': 'Envelope faults, bad parameters and unparsable bodies have their codes of JSON-RPC.',
  'A2A-10': 'Tasks live for an hour, 10,000 at most, and are known in every process.',
  'A2A-11': 'The clients of A2A 0.3, and of 1.0 in its mode for 0.3, work as they are.',
  'A2A-12': 'Another method answers 405 in JSON-RPC form, with the methods that there are; OPTIONS goes on.',
  'A2A-14':
    'What the mandatory category of the compliance kit asks is so: card, envelopes, life of a task, refusals.',
  'A2A-13':
    'One address may take a tenth of the room for tasks in an hour, so that it drives out those of nobody.',
  'DISC-01': 'Every discovery document is open to all origins, may be kept for an hour, and has an ETag.',
  'DISC-02':
    'The protected resource metadata names the three credentials, and no authorization server where OAuth is off.',
  'DISC-03': 'There are no documents of OpenID servers, and where OAuth is off none of OAuth servers.',
  'DISC-04':
    'The tool server has a card, in the present form and in the one before, with the tools that there are.',
  'DISC-05': 'The catalogs lead to cards, descriptions and guides that are there.',
  'DISC-06': 'The policy and the guide state the same rules, reasons and tiers, as they are enforced.',
  'DISC-07': 'All addresses in the documents are made from PUBLIC_URL.',
  'DISC-08':
    'The running service serves every document, the skill, the nonce and the agent, and what they name is there.',
  'DISC-09': 'Cards, catalog and metadata have the members and types that their specifications require.',
  'DISC-10':
    'The address of the service says what it is and every way in: Markdown for programs, a live page for browsers.',
  'DISC-12':
    'A guide for producers is served that names every event type with its fields, channels and line, as it is.',
  'DISC-11': 'Every card and catalog names the skill, and so does every 404.',
  'DISC-13':
    'An agent that was given the base address alone, and what an operator hands over, does fifteen tasks by what is served to it.',
  'DISC-14':
    'Such an agent also speaks by MCP, finds an agent by its ability and asks it, claims a task from IRC, and catches up after a night.',
  'GUIDE-01': 'Every document is a page of the guide, and every link of the guide leads to what is there.',
  'GUIDE-02':
    'The guide sends what the build made of it and nothing else; a page that is not there leads back.',
  'GUIDE-03':
    'The guide can be searched, and read on any screen and without scripts; it asks nothing of other hosts.',
  'SKILL-01': 'The version of the skill comes from a manifest in the repository.',
  'SKILL-02': 'The skill and its files are served with the address of the service in them.',
  'SKILL-03': 'When the manifest cannot be read the skill is answered 503.',
  'SKILL-04': 'The skill tells the ladder of moderation and the loop guard as they run, by the settings.',
  'SKILL-06': 'The limits that the skill names are those of the code.',
  'SKILL-05':
    'The skill names the address of IRC, the bots and the nick service of this network, and what is withheld.',
  'DNS-01': 'The command line prints the SVCB records that lead agents to the service.',
  'DNS-02': 'Without a public host name there are no records, and the command says so.',
} as const;

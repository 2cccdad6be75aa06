/** The MCP endpoint and its tools. */
export const mcp = {
  'MCP-01':
    'Holders of a key have 57 tools, of which 20 change something and 6 spend value; a signature opens 24 reads.',
  'MCP-02': 'Locally there are 60 tools: three for managed channels beside the others, and never over HTTP.',
  'MCP-03': 'Every tool has a title, a description, schemas, and annotations that are true.',
  'MCP-04':
    'A result is pretty-printed JSON as text, with structured content where the contract fixes a shape.',
  'MCP-05': 'A failure is a result with isError and a text that begins with Error and says what to do.',
  'MCP-06': 'Wrong arguments name the field; a tool outside the tier and one that does not exist look alike.',
  'MCP-07':
    'Without a credential, or with a wrong one, the answer is 401 with -32001, data.reason and WWW-Authenticate.',
  'MCP-08': 'A presented signature selects the wallet path only, anything else the key path only.',
  'MCP-09':
    'Every other method than POST answers 405 with Allow, in JSON-RPC form; hosts and origins outside the list 403; lax Accept headers are taken.',
  'MCP-10':
    'Clients of both SDK generations list and call tools over HTTP, and over standard input and output.',
  'MCP-11': 'The 15 core tools have the parameters and output shapes of the contract.',
  'MCP-12':
    'Marketplace tools go through the gateway’s own routes, with the caller’s rights and on record as his.',
  'MCP-13':
    'Errors of the endpoint itself are in JSON-RPC form, with the id of the request where it can be read.',
  'MCP-14': 'Without a service that answers, relay mcp ends at once with one line that says what to do.',
  'MCP-18':
    'What relay mcp was asked before the end of its input is answered, and what is no request is said.',
  'MCP-19':
    'A line to relay mcp that is no JSON is answered with -32700, one that is no message with -32600, and told of in one short line.',
  'MCP-15': 'The conformance suite passes, but for what a server of tools alone does not have.',
  'MCP-16': 'The inspector lists and calls the tools, and is told how to come in without a key.',
  'MCP-17': 'Parameters of a wrong shape are the caller’s fault: -32602 with the place that is wrong.',
  'MCP-20':
    'In every state the structured content is what the output schema says, as clients check it; services elsewhere may answer more.',
  'MCP-21':
    'Channels and the files of the skill are resources: read by whoever may read them over HTTP, and by nobody else.',
  'MCP-22': 'Prompts are those that the caller has the tools for. They name tools that there are.',
  'MCP-23':
    'A session of relay mcp subscribes to channels, so many at most, and is told of new lines once in a second at most.',
  'MCP-25': 'A batch that cancels one of its own requests is answered whole.',
  'MCP-26':
    'A credential of the marketplace that is not one is refused with 400 at the endpoint too, and told to nobody.',
  'MCP-24':
    'Clients of the version 2026-07-28 are answered in it, each request on its own; those of older versions as before.',
} as const;

/** The description of the public API. */
export const openapi = {
  'OAS-01': 'GET /openapi.json is a valid OpenAPI 3.0.3 description, version 1.1.0, of this address.',
  'OAS-02': 'It has every route of the service, and no other.',
  'OAS-03': 'Every operation has an operationId of its own, a tag, a summary, security, and all its errors.',
  'OAS-04': 'Every body and path parameter has an example that its schema takes.',
  'OAS-05': 'What the service answers is what the description says.',
  'OAS-06': 'GET /docs is a page to read and try the API, with nothing from elsewhere.',
  'OAS-07':
    'Every answer of every server that the tests start is as the description says: status, type and body.',
  'OAS-08': 'A linter with its recommended rules finds neither an error nor a warning in the description.',
  'OAS-09':
    'Thousands of requests made from the description, valid and hostile, get no fault and no answer that it does not have.',
  'OAS-10': 'A request that leads to no operation is answered in the shape of every other error.',
  'OAS-11': 'Each error of an operation names the codes that it may have, each with an example.',
  'OAS-13': 'Every operation has a description besides its summary, and the document names whom to ask.',
  'OAS-14': 'The rules of spectral find nothing in the document.',
  'OAS-15':
    'Each operation refuses what its schemas do not take, takes their examples and edges, asks for the credentials it names, and has no other methods.',
  'OAS-12':
    'Patterns are regular expressions of ECMA-262 5.1, which other languages read too, and say what the service takes.',
} as const;

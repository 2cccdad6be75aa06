/** Writes the types of the client from the description of the API: `npm run client:types`, and each build. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { openApiDocument } from '../src/openapi/document.js';
import { descriptions } from '../src/openapi/index.js';

/** Where they are put; git does not keep them. */
export const typesFile = 'src/client/api.ts';

const head = `// The types of the HTTP API, made from its description by \`npm run client:types\`: not to be edited.

`;
const errorSchema = { $ref: '#/components/schemas/Error' };

type Content = Record<string, { schema?: object; example?: unknown }>;
type Responses = Record<string, { description: string; content?: Content }>;

/** The types of the API as it is described now. */
export async function clientTypes(): Promise<string> {
  const document = openApiDocument(descriptions, 'http://localhost:8100') as unknown as OpenAPI3;
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path) as { responses: Responses }[]) {
      operation.responses = inShort(operation.responses);
    }
  }
  // what has a default need not be sent
  return head + astToString(await openapiTS(document, { defaultNonNullable: false }));
}

/** Without what a reader of types does not need: examples, and the one shape of errors again for each status. */
function inShort(responses: Responses): Responses {
  const short: Responses = {};
  for (const [status, response] of Object.entries(responses)) {
    const { schema } = response.content?.['application/json'] ?? {};
    const isUsual = schema && isDeepStrictEqual(schema, errorSchema);
    const isAnything = schema && Object.keys(schema).length === 0; // as the marketplace says it
    if (Number(status) < 400 || !(isUsual || isAnything)) {
      for (const one of Object.values(response.content ?? {})) delete one.example;
      short[status] = response;
    } else if (isAnything || !short.default) {
      short.default = { description: 'What went wrong', content: { 'application/json': { schema } } };
    }
  }
  return short;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(typesFile, await clientTypes());

import { descriptions } from '../../src/openapi/index.js';
import { type Access, type Description, tags } from '../../src/operations/core/description.js';
import { code, head, table } from './page.js';

const needs: Record<Access, string> = {
  open: 'nothing',
  'open, more with a key': 'nothing; a key shows more',
  key: 'a key',
  'key or local': 'a key, or to be on this machine unless the service is public',
  'key or wallet': "a key, or a wallet's signature",
  'signed event': 'the signature of an event',
  payment: 'a payment',
};

/** Every route of the HTTP API, in its groups. */
export function routesPage(): string {
  const intro = `The whole description, with inputs, answers and examples, is OpenAPI: \`/openapi.json\`, to read and try at \`/docs\`. Scopes are
those of [agent keys](../guides/keys.md). [Errors](errors.md) has every code.
`;
  const sections = Object.entries(tags).flatMap(([tag, says]) => {
    const own = descriptions.filter((operation) => operation.tag === tag);
    if (own.length === 0) return [];
    return [`## ${tag}\n\n${says}.\n\n${table(['route', 'what it does', 'needs'], own.map(row))}`];
  });
  return [head('Routes', 'src/operations and src/pages', intro), ...sections].join('\n');
}

function row({ method, path, summary, access = 'open', scope }: Description): string[] {
  const isScoped = scope !== undefined && access !== 'open' && access !== 'open, more with a key';
  return [
    code(`${method.toUpperCase()} ${path}`),
    summary,
    `${needs[access]}${isScoped ? ` (scope ${code(scope)})` : ''}`,
  ];
}

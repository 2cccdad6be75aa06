import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { VersionedSchema } from '../../streams/core/stream.js';
import { streams } from '../../streams/index.js';
import { code, head, table } from './page.js';

interface Shape {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
}

/** Every fact of each stream, with its fields. */
export function factsPage(): string {
  const told = catalogue();
  const intro = `A fact is stored as JSON: \`{type, v, id, by, cause, time, data}\`. The fields below are those of \`data\`. A field with \`?\` may be
missing. \`time\` is when the fact was made (ISO 8601), by the log server's clock as its maker knows that. The time at which the
log server stored the message is another one, a little later. Read models and times to live go by that one, which is \`at\`
in \`relay events --json\`. Facts of versions before 1.2 have no \`time\`. A released fact never changes its meaning. See
[streams](../../streams/README.md) for how it may grow.

\`bin/relay events MARKET\` prints the facts of a stream.
`;
  const sections = streams.map((stream) => {
    const { name, description, subjects, maxAgeMs, whenFull, mostOfSubject } = stream;
    const days = maxAgeMs === 0 ? 'for ever' : `for ${maxAgeMs / 86_400_000} days`;
    const last = mostOfSubject === 0 ? '' : `, the last ${mostOfSubject} of each subject`;
    const full =
      whenFull === 'refuse' ? 'A full stream refuses new facts.' : 'A full stream drops its oldest.';
    const rows = Object.entries(stream.facts).map(([type, fact]) => {
      const { v, schema } =
        'upcast' in fact ? (fact as VersionedSchema) : { v: 1, schema: fact as z.ZodType };
      return [code(type), String(v), told.get(`${name} ${type}`) ?? '', fieldsOf(schema)];
    });
    const where = `Subjects: ${subjects.map(code).join(', ')}. Facts are kept ${days}${last}. ${full}`;
    return `## ${name}\n\n${description}\n\n${where}\n\n${table(['fact', 'version', 'says', 'fields'], rows)}`;
  });
  return [head('Facts', 'streams', intro), ...sections].join('\n');
}

/** What the list of facts says of each, by stream and type. */
function catalogue(): Map<string, string> {
  const lines = readFileSync('streams/README.md', 'utf8').matchAll(
    /^\| `([a-z_.]+)` +\| (\w+) +\|[^|]*\|[^|]*\| (.*?) *\|$/gm,
  );
  return new Map([...lines].map(([, type, stream, says = '']) => [`${stream} ${type}`, says]));
}

function fieldsOf(schema: z.ZodType): string {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
  if (!shape.properties) return code(typeOf(shape));
  return Object.entries(shape.properties)
    .map(([name, field]) => code(`${name}${shape.required?.includes(name) ? '' : '?'}: ${typeOf(field)}`))
    .join(', ');
}

function typeOf({ type, enum: values, const: value, anyOf, items }: Shape): string {
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((one) => JSON.stringify(one)).join(' or ');
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${items ? typeOf(items) : 'anything'}`;
  return type === undefined ? 'anything' : [type].flat().join(' or ');
}

import { readFileSync } from 'node:fs';
import { projections } from '../../projections/index.js';
import { code, head, table } from './page.js';

/** Every read model with its tables and their columns. */
export function readModelsPage(): string {
  const told = catalogue();
  const intro = `A read model is a set of SQL tables in a schema of its own, such as \`delivery_queue_v2\`. It is folded from the streams that are
named here. \`bin/relay replay\` asks its tables in SQL: see [rebuild and replay](../guides/rebuild-and-replay.md).

In PostgreSQL people look at views, such as \`delivery_queue.events\`. There JSON is \`jsonb\`, from PostgreSQL 16 on, and \`\\d+\` in
psql says what each column is. In the tables JSON is text.
`;
  const sections = projections.map((projection) => {
    const { name, version, streams, about } = projection;
    const made = streams.map((stream) => stream.name).join(', ');
    const answers = told.get(name);
    const tables = tablesOf(projection.ddl('schema')).map(([name, columns]) => {
      const { says, columns: said, json = [] } = about[name] ?? { says: '', columns: {} };
      const rows = columns.map(([column, type]) => [
        code(column),
        `${type}${json.includes(column) && type === 'text' ? ', JSON' : ''}`,
        said[column] ?? '',
      ]);
      return `### ${name}\n\n${says}\n\n${table(['column', 'type', 'is'], rows)}`;
    });
    const head = `Version ${version}, made of ${made}.${answers ? ` Answers: ${answers}.` : ''}`;
    return [`## ${name}\n\n${head}\n`, ...tables].join('\n');
  });
  return [head('Read models', 'projections', intro), ...sections].join('\n');
}

/** What the list of read models says of each, by name. */
function catalogue(): Map<string, string> {
  const lines = readFileSync('projections/README.md', 'utf8').matchAll(
    /^\| `([a-z_]+)` \|[^|]*\|[^|]*\| (.*?) \|$/gm,
  );
  return new Map([...lines].map(([, name = '', answers = '']) => [name, answers]));
}

/** Tables with their columns, from the statements that create them. */
function tablesOf(ddl: string): [string, [string, string][]][] {
  const text = ddl.replace(/--.*$/gm, '');
  return [...text.matchAll(/create table (?:if not exists )?schema\.(\w+)\s*\(/gi)].map((found) => {
    const [start, name = ''] = found;
    return [name, columnsOf(text.slice(found.index + start.length))];
  });
}

/** The columns of a table, from the text that comes after the bracket which opens their list. */
function columnsOf(text: string): [string, string][] {
  let depth = 0;
  const parts = [''];
  for (const letter of text) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (depth < 0) break;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.flatMap((part) => {
    const [name = '', type = ''] = part.trim().split(/\s+/);
    return /^(primary|unique|check|constraint|foreign|exclude|)$/i.test(name)
      ? []
      : [[name, type] as [string, string]];
  });
}

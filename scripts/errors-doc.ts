/** Writes the list of every code that the service refuses with: `npm run docs:errors`, and with the rest of the reference. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type RefusalCode, refusalAreas, refusals } from '../streams/refusals.js';

/** Where it is kept. */
export const errorsFile = 'docs/reference/errors.md';

const head = `# Errors

<!-- Made from streams/refusals.ts by \`npm run docs:reference\`: not to be edited. -->

An error over HTTP is \`{error, code}\`. \`error\` is for people. \`code\` is for programs and does not change. There can be more:

- \`hint\` says what to do.
- \`details\` names each bad field of the input as \`{path, message}\`.
- \`request_id\` names a fault of the service in its log.
- The header \`Retry-After\` says in how many seconds to try again.

JSON-RPC (\`POST /mcp\`, \`POST /a2a/v1\`) has the code in \`error.data.code\`. When \`POST /mcp\` refuses a credential, the reason is in
\`error.data.reason\`. A tool that is refused has a result with \`isError\`. Its text is \`Error:\`, the text and the hint.

A code can be listed twice, once for each thing that it means.
`;

const later = 'Try again, after `Retry-After` seconds where the answer has it';

/** The wanted text of the list. */
export function errorsDoc(): string {
  const areas = Object.entries(refusalAreas).map(([area, named]) => {
    const rows = (Object.keys(named) as RefusalCode[]).map(row);
    return `\n## ${area}\n\n| code | status | meaning | what to do |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return head + areas.join('');
}

function row(name: RefusalCode): string {
  const { code = name, status, says, hint, advice, retryAfter } = refusals[name];
  const again = retryAfter !== undefined || status === 429 ? later : '';
  return `| \`${code}\` | ${status} | ${escaped(says)} | ${escaped((hint ?? advice ?? again).replace(/\.$/, ''))} |`;
}

/** Angle brackets would be HTML. */
const escaped = (text: string) => text.replace(/[<|]/g, '\\$&');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(errorsFile, errorsDoc());

import { stdioToolsOf, type Tool, toolsOf } from '../../src/mcp/tools.js';
import { operations } from '../../src/operations/index.js';
import { code, head, table } from './page.js';

const effects = { read: 'reads', change: 'changes', spend: 'spends value' } as const;

/** Every tool of the tool server, with its parameters. */
export function toolsPage(): string {
  const over = toolsOf(operations, never);
  const intro = `\`POST /mcp\` has these tools: see [tools for agents](../guides/mcp.md). An operator's key opens those without
*agents only*. An agent key opens those of its scopes. A wallet's signature opens those with *wallet*. A parameter with \`?\` may be left out.
`;
  return [
    head('Tools', 'src/operations', intro),
    tableOf(over),
    '## Only through `relay mcp`\n',
    'These three need `CHANNEL_ADMIN_KEY`, and never go over HTTP as tools.\n',
    tableOf(stdioToolsOf(operations, never)),
  ].join('\n');
}

const never = () => Promise.reject(new Error('tools are listed here, and not called'));

function tableOf(tools: Tool[]): string {
  return table(
    ['tool', 'what it does', 'effect', 'opened by', 'parameters'],
    tools.map(({ name, title, effect, scope, walletReadable, ofAgents, input }) => [
      code(name),
      title,
      effects[effect],
      `${code(scope)}${walletReadable ? ', wallet' : ''}${ofAgents ? ', *agents only*' : ''}`,
      Object.entries(input.shape)
        .map(([parameter, schema]) => code(`${parameter}${schema.safeParse(undefined).success ? '?' : ''}`))
        .join(', '),
    ]),
  );
}

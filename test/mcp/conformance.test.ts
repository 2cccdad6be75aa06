import pino from 'pino';
import t from 'tap';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { createServer } from '../../src/http/server.js';
import { mcpRoutes } from '../../src/mcp/http.js';
import { ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { defineOperation } from '../../src/operations/core/operation.js';
import { operations } from '../../src/operations/index.js';
import { Refusal } from '../../streams/core/index.js';
import { callHere } from '../support/operations.js';
import { runPackage } from './run-client.js';

/**
 * Features that a server of tools without sessions does not need: it offers neither these capabilities nor
 * streams.
 */
const notForToolsOnly = [
  ...['logging-set-level', 'completion-complete', 'server-sse-multiple-streams', 'server-sse-polling'],
  ...['resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read'],
  ...['resources-subscribe', 'resources-unsubscribe'],
  ...['prompts-list', 'prompts-get-simple', 'prompts-get-with-args'],
  ...['prompts-get-embedded-resource', 'prompts-get-with-image'],
  // what tools may do besides answering with text and JSON: ours do not
  ...['tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content'],
  ...['tools-call-with-logging', 'tools-call-with-progress', 'tools-call-sampling', 'tools-call-elicitation'],
  ...['elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'json-schema-2020-12'],
];

/** Tools that the suite asks for by name. */
const asked = [
  defineOperation('testText', {
    tool: { name: 'test_simple_text', title: 'Text', description: 'Answers with a text' },
    run: async () => 'This is a simple text response for testing.',
  }),
  defineOperation('testError', {
    tool: { name: 'test_error_handling', title: 'Error', description: 'Fails' },
    run: async () => {
      throw new Refusal('not_found', 'This tool intentionally returns an error for testing');
    },
  }),
];

t.test(
  'MCP-15 the conformance suite passes, but for what a server of tools alone does not have',
  async (t) => {
    const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
    t.teardown(() => server.close());
    await server.register(mcpRoutes, {
      // what the real tools would ask is not asked here
      table: new ToolTable(toolsOf([...operations, ...asked], callHere({}))),
      // the suite shows no credential: callers on this machine need none if there are no keys
      keys: new ApiKeys([]),
      wallets: { presented: () => false, verify: async () => t.fail('no signature was sent') as never },
      challenge: () => ({}),
      allowed: [],
    });
    const url = `${await server.listen({ host: '127.0.0.1', port: 0 })}/mcp`;
    const { output } = await runPackage('@modelcontextprotocol/conformance', [
      ...['server', '--url', url, '--suite', 'all'],
    ]);
    const results = [...output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed$/gm)].map(
      ([, name, passed, failed]) => ({ name: name!, passes: Number(passed) > 0 && Number(failed) === 0 }),
    );
    const names = (passes: boolean) =>
      results
        .filter((one) => one.passes === passes)
        .map(({ name }) => name)
        .sort();
    t.same(
      names(true),
      [
        ...['dns-rebinding-protection', 'ping', 'server-initialize', 'tools-call-error'],
        ...['tools-call-simple-text', 'tools-list'],
      ],
      output,
    );
    t.same(names(false), notForToolsOnly.sort(), 'nothing else is left out');
  },
);

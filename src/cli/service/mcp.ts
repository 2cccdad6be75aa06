import { once } from 'node:events';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { defineCommand } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { cut, printable } from '../core/terminal.js';
import { type ServiceClient, serviceOf, serviceOptions } from './client.js';

const Rpc = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});

/** JSON-RPC code of a missing or wrong credential. */
const unauthorized = -32001;

/** What is said of a line that is not understood has so many characters at most: it may quote the line. */
const longestComplaint = 120;

/** `relay mcp` */
export const mcpCommand = defineCommand({
  name: 'mcp',
  summary: 'Be the MCP server of a client on this machine (standard input and output)',
  details:
    'Passes calls on to the service that runs where the configuration says. With CHANNEL_ADMIN_KEY, one of the\n' +
    'keys in API_KEYS of the service, there are three more tools: those that change managed channels.',
  options: serviceOptions,
  async run(invocation) {
    // loaded here: no other command needs them
    const [{ LineTransport }, { stdioToolsOf }, { createStdioToolServer }, { operations }, { publicCall }] =
      await Promise.all([
        import('../../mcp/line-transport.js'),
        import('../../mcp/tools.js'),
        import('../../mcp/stdio.js'),
        import('../../operations/index.js'),
        import('../../remote/client.js'),
      ]);
    const service = serviceOf(invocation, invocation.options);
    const { CHANNEL_ADMIN_KEY: adminKey } = invocation.config();
    const calls = new Set<Promise<unknown>>();
    const counted = <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) => {
      return (...given: Given): Promise<T> => {
        const answer = call(...given);
        calls.add(answer);
        const over = () => void calls.delete(answer);
        answer.then(over, over);
        return answer;
      };
    };
    const withAdminKey = publicCall(
      counted(({ method, path, headers, body }) =>
        service.send(method, path, body, { ...headers, 'x-api-key': adminKey }),
      ),
    );
    const own = adminKey ? stdioToolsOf(operations, withAdminKey) : [];
    await requireService(service);
    const ask = counted((method: string, params: object) => askMcp(service, method, params));
    const server = createStdioToolServer(ask, own, (channel, options) => service.watch(channel, options));
    server.onerror = ({ message }) =>
      invocation.terminal.err(`relay: not understood: ${cut(printable(message), longestComplaint)}`);
    const closed = new Promise<void>((resolve) => {
      const { onclose } = server;
      server.onclose = () => {
        onclose?.();
        resolve();
      };
    });
    await server.connect(new LineTransport(process.stdin, process.stdout));
    const stopped = once(invocation.stop, 'abort');
    await Promise.race([closed, once(process.stdin, 'end'), stopped]);
    // what was asked before the end of the input is answered
    while (!invocation.stop.aborted) {
      await breathe();
      if (calls.size === 0) break;
      await Promise.race([Promise.allSettled(calls), stopped]);
    }
    await server.close();
  },
});

/** Whoever starts this is a program, and sees a line of ours at most: all there is to say goes into that. */
async function requireService(service: ServiceClient): Promise<void> {
  try {
    await askMcp(service, 'ping', {});
  } catch (error) {
    const { message, code, hint } = error as { message: string; code?: unknown; hint?: string };
    if (code === 'interrupted') throw error;
    const mend =
      hint ??
      (code === unauthorized
        ? 'Give one with --key or RELAY_API_KEY.'
        : 'Say where the service is with --url.');
    throw new Failed(`${message}. ${mend}`, typeof code === 'string' ? code : 'service_refused');
  }
}

async function askMcp(service: ServiceClient, method: string, params: object): Promise<unknown> {
  const request = { jsonrpc: '2.0', id: 1, method, params };
  const { status, body } = await service.send('POST', '/mcp', JSON.stringify(request));
  const answer = Rpc.safeParse(body);
  const { result, error } = answer.data ?? {};
  if (result === undefined && error === undefined)
    throw new Error(`${service.url} answered ${status}, but not as MCP does`);
  if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
  return result;
}

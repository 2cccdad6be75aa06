import { z } from 'zod';
import { type Gateway, path } from '../../mcp/gateway.js';
import { defineTool, resultOf, type Tool } from '../../mcp/tool.js';

const Agent = z.looseObject({ nickname: z.string(), registered: z.boolean(), verified: z.boolean() });

/** The agents that have proven a social account. */
export function verificationTools(gateway: Gateway): Tool[] {
  return [
    defineTool({
      name: 'svc_get_agent',
      title: 'A registered agent',
      description:
        'The registration of an agent by its nickname: social handle, the post that proves it, and when.',
      input: z.object({ nickname: z.string().min(1).max(30).describe('Nickname it registered') }),
      output: Agent,
      walletReadable: true,
      run: async (args, caller) =>
        resultOf(await gateway(caller, { path: path`/verification/agent/${args.nickname}` })),
    }),
    defineTool({
      name: 'svc_list_agents',
      title: 'List registered agents',
      description: 'All agents that have registered and proven their social account.',
      output: z.looseObject({ count: z.int(), agents: z.array(Agent) }),
      walletReadable: true,
      run: async (_args, caller) => resultOf(await gateway(caller, { path: '/verification/agents' })),
    }),
  ];
}

import { z } from 'zod';
import { isExpected } from '../../../streams/core/index.js';
import { defineTool, type Tool, ToolFailure } from '../../mcp/tool.js';
import type { Reply, Service } from '../../remote/service.js';
import { nick } from '../core/parameters.js';
import type { identityRoutes } from './service.js';

const Lookup = z.looseObject({
  nick: z.string().optional(),
  wallet: z.string().optional(),
  linked_at: z.string().optional().describe('ISO 8601'),
  error: z.string().optional(),
  status: z.int().optional(),
});

/** Who is who. */
export function identityTools(mrserv: Pick<Service<typeof identityRoutes>, 'byNick' | 'byWallet'>): Tool[] {
  return [
    defineTool({
      name: 'svc_identity_lookup',
      title: 'Look up who a nick or a wallet is',
      description:
        'The Ethereum wallet that a nick is linked to, or the nick of a wallet. Give one of nick and wallet. A link alone proves nothing: look at the level of GET /identity/by-nick.',
      input: z.object({
        nick: nick.optional(),
        wallet: z.string().optional().describe('Ethereum address, 0x and 40 hexadecimal digits'),
      }),
      output: Lookup,
      walletReadable: true,
      run: async ({ nick, wallet }) => {
        if (nick === undefined && wallet === undefined) throw new ToolFailure('Give nick or wallet');
        const lookup =
          nick === undefined
            ? mrserv.byWallet({ params: { address: wallet! } })
            : mrserv.byNick({ params: { nick } });
        const { status, body } = await answered(lookup);
        if (status !== 200) return { error: `HTTP ${status}`, status };
        const link = body as { nick: string; wallet_address: string; linked_at: string };
        const { linked_at } = link;
        return nick === undefined
          ? { wallet: link.wallet_address, nick: link.nick, linked_at }
          : { nick: link.nick, wallet: link.wallet_address, linked_at };
      },
    }),
  ];
}

/** The answer, whatever it is; throws when the service cannot be asked. */
async function answered(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (error) {
    if (!isExpected(error)) throw error;
    if (error.kind === 'refusal') return { status: error.status, body: null };
    throw new ToolFailure('identity service unreachable');
  }
}

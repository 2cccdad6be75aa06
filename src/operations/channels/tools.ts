import { z } from 'zod';
import { memberActions } from '../../../streams/channels/index.js';
import { type Gateway, path } from '../../mcp/gateway.js';
import { defineTool, resultOf, type Tool } from '../../mcp/tool.js';
import { channel } from '../core/parameters.js';

const nicks = (what: string) => z.array(z.string().min(1)).max(1_000).optional().describe(what);

/** The life of managed channels, for whoever runs the network: never over HTTP. */
export function channelAdminTools(gateway: Gateway): Tool[] {
  return [
    defineTool({
      name: 'svc_update_channel',
      title: 'Change a managed channel',
      description:
        'Changes topic or modes of a managed channel, or gives and takes voice and operator state there.',
      input: z.object({
        channel,
        topic: z.string().max(300).optional(),
        modes: z
          .union([z.string(), z.array(z.string())])
          .optional()
          .describe('Mode string like +nt, or a list of them'),
        voice: nicks('Nicks that get voice'),
        devoice: nicks('Nicks that lose voice'),
        op: nicks('Nicks that become channel operators'),
        deop: nicks('Nicks that are channel operators no more'),
      }),
      effect: 'change',
      idempotent: true,
      run: async ({ channel, ...body }, caller) =>
        resultOf(await gateway(caller, { method: 'PATCH', path: path`/channels/${channel}`, body })),
    }),
    defineTool({
      name: 'svc_channel_members',
      title: 'Move or mark members of a channel',
      description:
        'Forces nicks into a managed channel or out of it, or changes their voice or operator state. Answers nick by nick what worked.',
      input: z.object({
        channel,
        action: z.enum(memberActions),
        nicks: z.array(z.string().min(1)).min(1).max(1_000),
        reason: z.string().max(200).optional().describe('Shown to those who are taken out'),
      }),
      effect: 'change',
      idempotent: true,
      run: async ({ channel, ...body }, caller) =>
        resultOf(await gateway(caller, { method: 'POST', path: path`/channels/${channel}/members`, body })),
    }),
    defineTool({
      name: 'svc_channel_operations',
      title: 'Audit records of a channel',
      description: 'What was done in a managed channel by command, newest first.',
      input: z.object({
        channel,
        limit: z.int().min(1).max(200).default(50).describe('How many records at most'),
      }),
      run: async ({ channel, ...query }, caller) =>
        resultOf(await gateway(caller, { path: path`/channels/${channel}/operations`, query })),
    }),
  ];
}

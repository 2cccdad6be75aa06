import { z } from 'zod';
import { defineTool, resultOf, type Tool } from '../../mcp/tool.js';
import type { Service } from '../../remote/service.js';
import { limit, nick } from '../core/parameters.js';
import type { guardianRoutes } from './service.js';

/** What moderation has seen and done. */
export function moderationTools(
  guardian: Pick<Service<typeof guardianRoutes>, 'statistics' | 'incidents' | 'reputation'>,
): Tool[] {
  return [
    defineTool({
      name: 'svc_guardian_stats',
      title: 'Moderation statistics',
      description:
        'How many incidents moderation has recorded, by level (log, warning, mute, kick, ban), today and in all, and who caused most of them.',
      output: z.looseObject({
        total_incidents: z.int(),
        by_level: z.looseObject({}),
        top_offenders: z.array(z.looseObject({})),
      }),
      walletReadable: true,
      run: async () => resultOf(await guardian.statistics()),
    }),
    defineTool({
      name: 'svc_guardian_incidents',
      title: 'Moderation incidents',
      description:
        'The newest moderation incidents: who, where, score of 0 to 100, level and the rules that matched. Use it to see what injection attempts look like here.',
      input: z.object({ limit: limit(200, 50, 'incidents') }),
      output: z.looseObject({ incidents: z.array(z.looseObject({})) }),
      run: async (args) => resultOf(await guardian.incidents({ query: { ...args, private: 'true' } })),
    }),
    defineTool({
      name: 'svc_guardian_reputation',
      title: 'Moderation record of a nick',
      description: 'How often a nick was warned, muted, kicked and banned, and its latest incidents.',
      input: z.object({ nick }),
      output: z.looseObject({
        reputation: z.looseObject({}).nullable(),
      }),
      run: async (args) => resultOf(await guardian.reputation({ params: args, query: { private: 'true' } })),
    }),
  ];
}

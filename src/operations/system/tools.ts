import { z } from 'zod';
import { defineTool, type Tool } from '../../mcp/tool.js';
import type { Reply } from '../../remote/service.js';

const checkTimeoutMs = 3_000;
const checked = ['bridge', 'turnstile', 'verification'] as const;
const Status = z.looseObject({ status: z.string() });

/** Whether the services are well that agents depend on. */
export function healthTools(health: Record<string, () => Promise<Reply>>): Tool[] {
  return [
    defineTool({
      name: 'svc_health',
      title: 'Health of the services',
      description:
        'Whether the IRC bridge, the payment gateway and agent verification are well: ok, degraded, unreachable or not_configured. Use it when other tools fail.',
      output: z.looseObject({ bridge: Status, turnstile: Status, verification: Status }),
      walletReadable: true,
      run: async () => {
        const states = checked.map(async (name) => [name, { status: await statusOf(health[name]) }]);
        return Object.fromEntries(await Promise.all(states));
      },
    }),
  ];
}

async function statusOf(health: (() => Promise<Reply>) | undefined): Promise<string> {
  if (!health) return 'not_configured';
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), checkTimeoutMs);
  });
  const answer = await Promise.race([health().catch(() => undefined), late]);
  clearTimeout(timer);
  const status = (answer?.body as { status?: unknown } | undefined)?.status;
  return answer && answer.status < 500 && typeof status === 'string' ? status : 'unreachable';
}

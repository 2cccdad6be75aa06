import pTimeout from 'p-timeout';
import { z } from 'zod';
import { clock } from '../../../streams/core/clock.js';
import type { RefusalCode } from '../../../streams/refusals.js';
import { seconds, text } from '../core/fields.js';
import { healthCheckMs, secondsSince } from '../core/health.js';
import { defineOperation } from '../core/operation.js';

/** What health and readiness are made of. */
export interface HealthParts {
  startedAt: Date;
  system: {
    /** Asks each internal service how it is, by the contract's names. */
    health: Readonly<Record<string, () => Promise<unknown>>>;
    /** Why this process should get no requests now; `undefined` when it may. */
    notReady(): string | undefined;
    /** Why workers have halted at facts, by their names. */
    halted(): Promise<Record<string, string>>;
  };
}

/** The services without which the network does not do its work. */
const essential = ['bridge', 'turnstile'];
/** How a service is that does its work, or that nobody wants here. */
const healthy = ['ok', 'not_configured'];
/** The services that agents depend on. */
const ofAgents = ['bridge', 'turnstile', 'verification'];

const Health = z.object({
  status: z.enum(['ok', 'degraded']),
  services: z
    .record(z.string(), z.looseObject({ status: z.string(), latencyMs: z.number().optional() }))
    .meta({ example: { bridge: { status: 'ok', latencyMs: 1.2 } } }),
  workers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Workers that have halted at a fact which they cannot take, and why'),
  uptime: seconds,
});

/** How every part is; always answered. */
export const getHealth = defineOperation('getHealth', {
  tag: 'System',
  summary: 'How every part is; always 200',
  description:
    '`status` and `services` say what is away. An answer may be a second old. For load balancers there is `GET /ready`.',
  says: 'ok when the bridge is, and the payment gateway where there are paid channels',
  output: Health,
  http: { method: 'get', path: '/health', inEveryRole: true },
  run: async (_input, _caller, { system, startedAt }: HealthParts) => {
    const { services, workers } = await checkAll(system);
    const degraded = essential.some((name) => services[name] && !healthy.includes(services[name].status));
    return {
      status: degraded ? ('degraded' as const) : ('ok' as const),
      services,
      ...(Object.keys(workers).length > 0 ? { workers } : {}),
      uptime: secondsSince(startedAt),
    };
  },
});

/** Whether requests should be sent to this process. */
export const getReadiness = defineOperation('getReadiness', {
  tag: 'System',
  summary: 'Whether requests should be sent here, for load balancers',
  description: '503 says in `error` what is missing: read models that have not caught up, or the event log.',
  answers: {
    200: { says: 'Yes', body: { schema: z.object({ ready: z.literal(true) }) } },
    503: {
      says: 'Not now',
      body: {
        schema: z.looseObject({
          ready: z.literal(false),
          error: text('the read models have not caught up'),
          code: text('not_ready'),
        }),
      },
    },
  },
  http: {
    method: 'get',
    path: '/ready',
    inEveryRole: true,
    status: ({ ready }: { ready: boolean }) => (ready ? 200 : 503),
    headersOf: ({ ready }: { ready: boolean }): Record<string, string> =>
      ready ? {} : { 'retry-after': '1' },
  },
  run: async (_input, _caller, { system }: HealthParts) => {
    const error = system.notReady();
    return error === undefined
      ? { ready: true }
      : { ready: false, error, code: 'not_ready' satisfies RefusalCode };
  },
});

/** How long the result of a check is given to others, in milliseconds. A check costs more than any other answer without a limit. */
const keptMs = 1_000;

/** A check: what it finds, when it ended, and whether the process was ready as it began. */
interface Check {
  result: ReturnType<typeof begin>;
  endedAt: number;
  notReady: string | undefined;
}

/** The latest checks. Whoever asks while one is under way, or soon after it, gets its result, unless readiness has changed. */
const latest = new WeakMap<HealthParts['system'], Check>();

async function checkAll(system: HealthParts['system']): ReturnType<typeof begin> {
  const known = latest.get(system);
  const notReady = system.notReady();
  if (known && known.notReady === notReady && clock.elapsed() - known.endedAt < keptMs)
    return await known.result;
  const check: Check = { result: begin(system), endedAt: Number.POSITIVE_INFINITY, notReady };
  latest.set(system, check);
  try {
    return await check.result;
  } finally {
    check.endedAt = clock.elapsed();
  }
}

async function begin(system: HealthParts['system']) {
  const halted = pTimeout(system.halted(), { milliseconds: healthCheckMs }).catch(() => ({}));
  const names = Object.keys(system.health);
  const states = await Promise.all(names.map((name) => check(system.health[name]!)));
  const services = Object.fromEntries(names.map((name, index) => [name, states[index]!]));
  return { services, workers: await halted };
}

const Status = z.looseObject({ status: z.string() });

/** Whether the services are well that agents depend on. */
export const checkServices = defineOperation('checkServices', {
  tool: {
    name: 'svc_health',
    title: 'Health of the services',
    description:
      'Whether the IRC bridge, the payment gateway and agent verification are well: ok, degraded, unreachable or not_configured.',
    output: z.looseObject({ bridge: Status, turnstile: Status, verification: Status }),
    walletReadable: true,
  },
  run: async (_input, _caller, { system }: HealthParts) => {
    const states = ofAgents.map(async (name) => {
      const health = system.health[name];
      return [name, { status: health ? (await check(health)).status : 'not_configured' }] as const;
    });
    return Object.fromEntries(await Promise.all(states));
  },
});

async function check(health: () => Promise<unknown>): Promise<{ status: string; latencyMs: number }> {
  const started = performance.now();
  const answer = await pTimeout(health(), { milliseconds: healthCheckMs }).catch(() => undefined);
  const latencyMs = Math.round((performance.now() - started) * 10) / 10;
  const { status } = (answer ?? {}) as { status?: unknown };
  if (typeof status !== 'string') return { status: 'unreachable', latencyMs };
  return { ...(answer as { status: string }), latencyMs };
}

import { existsSync } from 'node:fs';
import { z } from 'zod';
import { isNick } from '../streams/irc-grammar.js';

/** The parts that a process may run. */
export const roles = ['api', 'services', 'projections', 'workers', 'irc', 'schedule'] as const;
export type Role = (typeof roles)[number];

const url = (protocols: RegExp) =>
  z.union([z.literal(''), z.url({ protocol: protocols, error: 'is not a valid address' })]).default('');
const isNatsUrls = (urls: string) =>
  urls === '' || urls.split(',').every((url) => /^\s*(nats|tls):\/\/\S+\s*$/.test(url));
const port = (preset: number) => z.coerce.number().int().min(0).max(65_535).default(preset);
const milliseconds = (preset: number) => z.coerce.number().int().min(1).default(preset);
const list = (preset: string) =>
  z
    .string()
    .default(preset)
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    );

const apiKeys = list('').transform((pairs, context) =>
  pairs.map((pair) => {
    const colon = pair.indexOf(':');
    if (colon < 1 || colon === pair.length - 1) {
      // the pair itself is a secret: name its place only
      context.addIssue({ code: 'custom', message: `pair ${pairs.indexOf(pair) + 1} is not name:key` });
    }
    return { name: pair.slice(0, colon), key: pair.slice(colon + 1) };
  }),
);

const rolesList = list('all').transform((names, context): Role[] => {
  if (names.includes('all')) return [...roles];
  for (const name of names) {
    if (!roles.includes(name as Role)) {
      context.addIssue({
        code: 'custom',
        message: `unknown role ${name}: use all, or some of ${roles.join(', ')}`,
      });
    }
  }
  return names as Role[];
});

/** Every environment variable of the service; `.env.example` describes each one. */
export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port(8100),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'is not a valid address' })
    .default('http://localhost:8100'),
  DATA_DIR: z.string().min(1).default('./data'),
  NATS_URL: z.string().default('').refine(isNatsUrls, 'is not a list of addresses like nats://host:4222'),
  NATS_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  STREAMS_MAX_BYTES: z.coerce.number().int().min(1_000_000).optional(),
  DATABASE_URL: url(/^postgres(ql)?$/),
  IRC_URL: url(/^ircs?$/),
  IRC_EMBEDDED_PORT: port(6667),
  IRC_OPER_NAME: z.string().default(''),
  IRC_OPER_PASSWORD: z.string().default(''),
  IRC_SERVER_PASSWORD: z.string().default(''),
  EM_NICK: z.string().default('em-bot').refine(isNick, 'is not an IRC nick'),
  ROLES: rolesList,
  EM_WEBHOOK_SECRET: list(''),
  EM_WEBHOOK_SCHEMES: list('body').pipe(z.array(z.enum(['body', 'timestamped'])).min(1)),
  EVENT_TTL_MS: milliseconds(3_600_000),
  EVENT_RETRY_MS: milliseconds(5_000),
  EVENT_MAX_RETRIES: z.coerce.number().int().min(1).default(3),
  EM_SOURCE: z.string().min(1).default('relay-network'),
  API_KEYS: apiKeys,
  RELAY_API_KEY: z.string().default(''),
  BRIDGE_URL: url(/^https?$/),
  PROXY_TIMEOUT: milliseconds(5_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  RATE_LIMIT: z.coerce.number().int().min(0).default(600),
});

export type Config = z.output<typeof environment>;

/** A configuration that cannot be used; the message names every variable that is wrong. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Reads the configuration, with `.env` of the working directory under the process's own environment. Throws `ConfigError`. */
export function readConfig(env: NodeJS.ProcessEnv = environmentWithFile()): Config {
  // `NAME=` means the same as no NAME, as in compose files that pass a variable on
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = environment.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `  ${String(issue.path[0] ?? '')}: ${issue.message}`);
  throw new ConfigError(`The configuration cannot be used:\n${problems.join('\n')}`);
}

function environmentWithFile(): NodeJS.ProcessEnv {
  // present from Node 20.12 on; it leaves variables alone that are already set
  try {
    if (existsSync('.env')) process.loadEnvFile?.('.env');
  } catch (error) {
    throw new ConfigError(`.env cannot be read: ${(error as Error).message}`);
  }
  return process.env;
}

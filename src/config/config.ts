import { existsSync, readFileSync } from 'node:fs';
import util from 'node:util';
import { z } from 'zod';
import { isWalletAddress } from '../../streams/identity/challenge.js';
import { isChannel } from '../../streams/irc-grammar.js';
import { readPayTo } from '../../workers/payments/networks.js';
import { modelKeyNames, withModelKeys } from '../operations/deliberation/models-file.js';
import { conflictsOf } from './conflicts.js';
import { brokenLinesOf, unknownNames } from './setting-names.js';
import {
  address,
  apiKeys,
  areNatsAddresses,
  dollars,
  isHost,
  isHostAndPort,
  isOrigin,
  list,
  milliseconds,
  modelsFile,
  nick,
  paidChannelsFile,
  port,
  producers,
  proxies,
  rulesFile,
  someOf,
  thresholds,
  truth,
  wholeNumber,
} from './setting-types.js';

/** The parts that a process may run. */
export const roles = ['api', 'services', 'projections', 'workers', 'irc', 'schedule'] as const;
export type Role = (typeof roles)[number];

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Every environment variable of the service; `.env.example` describes each one. */
export const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port(8100),
  PUBLIC_URL: address(['http:', 'https:'], 'https://relay.example'),
  DATA_DIR: z.string().min(1).default('./data'),
  NATS_URL: z
    .string()
    .default('')
    .refine(areNatsAddresses, 'must be addresses like nats://host:4222, with commas between them'),
  NATS_REPLICAS: wholeNumber(1, 5).default(1),
  STREAMS_MAX_BYTES: wholeNumber(1_000_000).optional(),
  DATABASE_URL: address(['postgres:', 'postgresql:'], 'postgres://user:password@host/database'),
  IRC_URL: address(['irc:', 'ircs:'], 'ircs://host:6697'),
  IRC_EMBEDDED_PORT: port(6667),
  NICK_REGISTER_AFTER_SECONDS: wholeNumber(0, 3_600).default(30),
  IRC_PUBLIC_URL: address(['irc:', 'ircs:'], 'ircs://irc.example:6697'),
  IRC_OPER_NAME: z.string().default(''),
  IRC_OPER_PASSWORD: z.string().default(''),
  IRC_SERVER_PASSWORD: z.string().default(''),
  IRC_GATEWAY_PASSWORD: z.string().default(''),
  GATEWAY_AGENTS: wholeNumber(0).default(1_000),
  GATEWAY_IDLE_MINUTES: wholeNumber(1).default(60),
  WEBHOOK_LOOPBACK: truth('false'),
  IRC_CHANNELS: list('#bounties,#disputes,#payments,#lobby').refine(
    (names) => names.every(isChannel),
    'must be channel names like #lobby, with commas between them',
  ),
  BRIDGE_NICK: nick('relay'),
  EM_NICK: nick('em-bot'),
  CHANNELSERV_NICK: nick('channelserv'),
  MRSERV_NICK: nick('mrserv'),
  RULES_FILE: rulesFile,
  GUARDIAN_THRESHOLDS: thresholds,
  GUARDIAN_IGNORE_CHANNELS: list('').refine(
    (names) => names.every(isChannel),
    'must be channel names like #lobby, with commas between them',
  ),
  GUARDIAN_WITHHOLD: z
    .enum(['true', 'false'], 'must be true or false')
    .default('true')
    .transform((value) => value === 'true'),
  GUARDIAN_LOOP_MINUTES: wholeNumber(0, 1_440).default(10),
  CHANNEL_CREATIONS_PER_HOUR: wholeNumber(0).default(100),
  CHANNEL_DELETIONS_PER_HOUR: wholeNumber(0).default(50),
  MEMBER_OPERATIONS_PER_HOUR: wholeNumber(0).default(1_000),
  ARCHIVE_GRACE_HOURS: wholeNumber(0).default(72),
  DELETE_AFTER_DAYS: wholeNumber(0).default(7),
  GEO_INACTIVITY_DAYS: wholeNumber(1).default(30),
  ROLES: someOf(['all', ...roles], 'all').transform((given) =>
    given.includes('all') ? [...roles] : (given as Role[]),
  ),
  EM_WEBHOOK_SECRET: list(''),
  EM_PRODUCERS: producers,
  EM_WEBHOOK_SCHEMES: someOf(['body', 'timestamped'], 'body'),
  EVENT_TTL_MS: milliseconds(3_600_000),
  EVENT_RETRY_MS: milliseconds(5_000),
  EVENT_MAX_RETRIES: wholeNumber(1).default(3),
  UNKNOWN_EVENTS: z.enum(['show', 'ignore', 'reject'], 'must be show, ignore or reject').default('show'),
  UNKNOWN_EVENT_FIELDS: list(''),
  EM_SOURCE: z.string().min(1).default('relay-network'),
  EM_URL: address(['http:', 'https:'], 'https://marketplace.example'),
  EM_API_KEY: z.string().default(''),
  CERT_HOSTS: list('').refine(
    (places) => places.every(isHostAndPort),
    'must be places like irc.example:6697, with commas between them',
  ),
  SOCIAL_OEMBED_URL: address(
    ['http:', 'https:'],
    'https://publish.twitter.com/oembed',
    'https://publish.twitter.com/oembed',
  ),
  EM_IDENTITY_WEBHOOK_URL: address(['http:', 'https:'], 'https://marketplace.example/identity'),
  EM_IDENTITY_WEBHOOK_SECRET: z.string().default(''),
  CHAIN_RPC_URL: address(['http:', 'https:'], 'https://rpc.example'),
  ERC8004_REGISTRY: z
    .string()
    .default('')
    .refine((text) => text === '' || isWalletAddress(text), 'must be 0x and 40 hexadecimal digits'),
  MODELS: modelsFile,
  DELIBERATION_MAX_COST_USD: dollars(1),
  DELIBERATION_CALL_TIMEOUT_MS: milliseconds(60_000),
  X402_FACILITATOR_URL: address(['http:', 'https:'], 'https://facilitator.example'),
  X402_PAY_TO: z
    .string()
    .default('')
    .transform((text, context) => {
      const payTo = readPayTo(text);
      if (payTo) return payTo;
      const message =
        'must be one 0x address, or network=address pairs like eip155:8453=0x..., with commas between them';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }),
  PAID_CHANNELS: paidChannelsFile,
  API_KEYS: apiKeys,
  API_KEYS_FILE: z.string().default(''),
  ALLOWED_ORIGINS: list('').refine(
    (origins) => origins.every(isOrigin),
    'must be origins like https://app.example, with commas between them',
  ),
  ALLOWED_HOSTS: list('').refine(
    (hosts) => hosts.every(isHost),
    'must be hosts like relay.internal or relay:8100, with commas between them',
  ),
  TRUST_PROXY: proxies,
  NONCE_RATE_LIMIT: wholeNumber(0).default(30),
  KEY_RATE_LIMIT: wholeNumber(0).default(120),
  NICK_RATE_LIMIT: wholeNumber(0).default(300),
  OAUTH: truth('true'),
  VOTE_LINK_AGE_HOURS: wholeNumber(0).optional(),
  RELAY_API_KEY: z.string().default(''),
  CHANNEL_ADMIN_KEY: z.string().default(''),
  BRIDGE_URL: address(['http:', 'https:'], 'http://host:8100'),
  CHANNELSERV_URL: address(['http:', 'https:'], 'http://host:8100'),
  GUARDIAN_URL: address(['http:', 'https:'], 'http://host:8100'),
  MRSERV_URL: address(['http:', 'https:'], 'http://host:8100'),
  MULTIBRAIN_URL: address(['http:', 'https:'], 'http://host:8100'),
  SENTINEL_URL: address(['http:', 'https:'], 'http://host:8100'),
  TURNSTILE_URL: address(['http:', 'https:'], 'http://host:8100'),
  VERIFICATION_URL: address(['http:', 'https:'], 'http://host:8100'),
  PROXY_TIMEOUT: milliseconds(5_000),
  LOG_LEVEL: z.enum(levels, `must be one of ${levels.join(', ')}`).default('info'),
  RATE_LIMIT: wholeNumber(0).default(600),
  CONNECTIONS_PER_ADDRESS: wholeNumber(0).default(500),
});

export type Config = z.output<typeof environment>;

/** A configuration that cannot be used. The message names every wrong variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * Reads the configuration. The process's own environment wins over `.env` of the working directory. Throws
 * `ConfigError`.
 */
export function readConfig(env: NodeJS.ProcessEnv = environmentWithFile()): Config {
  // `NAME=` means the same as no NAME, as in compose files that pass a variable on
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = environment.safeParse(given);
  if (result.success) {
    const conflicts = conflictsOf(result.data);
    if (conflicts.length > 0) throw unusable(conflicts);
    const { PUBLIC_URL: publicUrl, PORT, MODELS } = result.data;
    const PUBLIC_URL = publicUrl || `http://localhost:${PORT}`;
    return { ...result.data, PUBLIC_URL, MODELS: withModelKeys(MODELS, given) };
  }
  const problems = result.error.issues.map(({ path, message }) => {
    const name = String(path[0] ?? '');
    return `${name}: ${message}${shown(name, given[name] ?? '')}`;
  });
  throw unusable(problems);
}

/** The error that tells of problems. Each begins with the name of a setting. */
export function unusable(problems: readonly string[]): ConfigError {
  return new ConfigError(['The configuration cannot be used:', ...problems].join('\n  '));
}

/** Complaints about names in the environment and in `.env` that look like settings but are not. */
export function unknownSettings(env: NodeJS.ProcessEnv = process.env, file = envFile()): string[] {
  const inFile = Object.keys(parseEnv?.(file) ?? {});
  const notRead =
    parseEnv === undefined && file !== '' ? ['.env is read by Node.js 20.12 or newer only'] : [];
  const given = { environment: Object.keys(env), file: inFile, brokenLines: brokenLinesOf(file) };
  const known = [...Object.keys(environment.shape), ...modelKeyNames(env.MODELS)];
  return [...notRead, ...unknownNames(given, known)];
}

const secrets = new Set([
  'API_KEYS',
  'RELAY_API_KEY',
  'CHANNEL_ADMIN_KEY',
  'EM_WEBHOOK_SECRET',
  'EM_PRODUCERS',
  'EM_IDENTITY_WEBHOOK_SECRET',
  // the path holds the key of an RPC provider
  'CHAIN_RPC_URL',
  'EM_API_KEY',
  'IRC_OPER_PASSWORD',
  'IRC_SERVER_PASSWORD',
  'IRC_GATEWAY_PASSWORD',
]);

/** The wrong value, unless it is a secret or an address that may hold one. */
function shown(name: string, value: string): string {
  if (secrets.has(name) || (name.endsWith('_URL') && /[@=\s]/.test(value))) return '';
  return `, got '${value.length > 60 ? `${value.slice(0, 57)}...` : value}'`;
}

/** Present from Node 20.12 on. */
const parseEnv = util.parseEnv as typeof util.parseEnv | undefined;

/**
 * The text of `.env`, without the byte order mark that some editors put before it; empty without such a file.
 */
function envFile(): string {
  return existsSync('.env') ? readFileSync('.env', 'utf8').replace(/^\uFEFF/, '') : '';
}

function environmentWithFile(): NodeJS.ProcessEnv {
  try {
    for (const [name, value] of Object.entries(parseEnv?.(envFile()) ?? {})) process.env[name] ??= value;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `.env cannot be read (${code ?? message}): make it a file that this user may read, or remove it`,
    );
  }
  return process.env;
}

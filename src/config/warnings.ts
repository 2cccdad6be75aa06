import { weakKeys } from '../auth/api-keys.js';
import { isLoopback } from '../auth/client-address.js';
import { readKeys } from '../auth/key-file.js';
import { missingModelKeys } from '../operations/deliberation/models-file.js';
import type { Config } from './config.js';

/** Webhook secrets shorter than this can be guessed. */
const minSecretLength = 32;

/** A setting that works but is risky, and what takes the risk away. */
export interface SettingRisk {
  what: string;
  mend: string;
}

/** Warnings at the start about risky settings. No secret is in the texts. */
export function bootWarnings(config: Config): string[] {
  return [...settingRisks(config).map(({ what }) => what), ...lackOfSecret(config), ...shortSecrets(config)];
}

/**
 * What is wrong with the file of keys now. It is no part of reading the configuration: a file that breaks while
 * the service runs must not keep other commands from their work.
 */
export function keysFileProblem({ API_KEYS_FILE }: Pick<Config, 'API_KEYS_FILE'>): string | undefined {
  try {
    if (API_KEYS_FILE !== '') readKeys(API_KEYS_FILE);
    return undefined;
  } catch (error) {
    return `API_KEYS_FILE: ${(error as Error).message}`;
  }
}

/**
 * What keeps a service from starting although its configuration can be read, a line for each. It is asked before any
 * server is started.
 */
export function startProblems(config: Config): string[] {
  return [keysFileProblem(config) ?? [], modelKeyProblems(config)].flat();
}

/** Models whose keys are not set. Whoever asks no model needs no key. */
export function modelKeyProblems({ ROLES, MODELS }: Pick<Config, 'ROLES' | 'MODELS'>): string[] {
  return ROLES.includes('workers') ? missingModelKeys(MODELS).map((what) => `MODELS: ${what}`) : [];
}

/** Whether the service makes itself a webhook secret where none is set: only where all servers are its own. */
export function makesWebhookSecret({
  NATS_URL,
  DATABASE_URL,
  IRC_URL,
}: Pick<Config, 'NATS_URL' | 'DATABASE_URL' | 'IRC_URL'>): boolean {
  return NATS_URL === '' && DATABASE_URL === '' && IRC_URL === '';
}

function lackOfSecret(config: Config): string[] {
  const isGiven = config.EM_WEBHOOK_SECRET.length > 0 || config.EM_PRODUCERS.length > 0;
  return isGiven || !config.ROLES.includes('api') || makesWebhookSecret(config)
    ? []
    : ['EM_WEBHOOK_SECRET is empty: no event is accepted until it is what the marketplace signs with'];
}

/** Complaints about webhook secrets that can be guessed, with the setting of each. */
export function shortSecrets({
  EM_WEBHOOK_SECRET,
  EM_PRODUCERS,
}: Pick<Config, 'EM_WEBHOOK_SECRET' | 'EM_PRODUCERS'>): string[] {
  const isOnly = EM_WEBHOOK_SECRET.length === 1;
  const secrets = [
    ...EM_WEBHOOK_SECRET.map((secret, index) => ({
      secret,
      what: isOnly ? 'EM_WEBHOOK_SECRET' : `secret ${index + 1} of EM_WEBHOOK_SECRET`,
    })),
    ...EM_PRODUCERS.map(({ source, secret }) => ({
      secret,
      what: `the secret of ${source} in EM_PRODUCERS`,
    })),
  ];
  return secrets
    .filter(({ secret }) => secret.length < minSecretLength)
    .map(({ what }) => `${what} is shorter than ${minSecretLength} characters`);
}

/** Whether others than those on this machine may reach the service. */
export function isPublic({ HOST, PUBLIC_URL }: Pick<Config, 'HOST' | 'PUBLIC_URL'>): boolean {
  const own = (host: string) => host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''));
  return !own(HOST) || (PUBLIC_URL !== '' && !own(new URL(PUBLIC_URL).hostname));
}

/**
 * Whether a key must be made and required. That is so if no key is set on a service that is not for this
 * machine alone. A caller who seems to be local may be anybody there, behind a proxy.
 */
export function needsOwnKey(
  config: Pick<Config, 'HOST' | 'PUBLIC_URL' | 'API_KEYS' | 'API_KEYS_FILE'>,
): boolean {
  return config.API_KEYS.length === 0 && config.API_KEYS_FILE === '' && isPublic(config);
}

/** Whether webhooks of agents may lead to this machine. No setting opens it to strangers. */
export function webhooksMayReachLoopback(
  config: Pick<Config, 'HOST' | 'PUBLIC_URL' | 'TRUST_PROXY' | 'WEBHOOK_LOOPBACK'>,
): boolean {
  const isProxied =
    typeof config.TRUST_PROXY === 'number' ? config.TRUST_PROXY > 0 : config.TRUST_PROXY.length > 0;
  return config.WEBHOOK_LOOPBACK && !isPublic(config) && !isProxied;
}

/**
 * Whether read models are asked in a store that no other process opens, and that this one does not fold. One that passes
 * everything on to services elsewhere asks none.
 */
function readsUnfolded(config: Config): boolean {
  const { ROLES, DATABASE_URL } = config;
  if (DATABASE_URL !== '' || ROLES.includes('projections')) return false;
  const isElsewhere = serviceAddresses.every((name) => config[name] !== '');
  return ROLES.includes('services') || (ROLES.includes('api') && !isElsewhere);
}

const serviceAddresses = [
  'BRIDGE_URL',
  'TURNSTILE_URL',
  'GUARDIAN_URL',
  'MRSERV_URL',
  'CHANNELSERV_URL',
  'SENTINEL_URL',
  'MULTIBRAIN_URL',
  'VERIFICATION_URL',
] as const;

/** The risky settings, without webhook secrets. No secret is in the texts. */
export function settingRisks(config: Config): SettingRisk[] {
  const risks: SettingRisk[] = [];
  const open = config.HOST !== 'localhost' && !isLoopback(config.HOST);
  const note = (what: string, mend: string) => void risks.push({ what, mend });
  if (needsOwnKey(config)) {
    note(
      'API_KEYS is empty and others can reach this service: a key is made, api_key in secrets.json of DATA_DIR',
      'set API_KEYS to what "relay keys new" prints',
    );
  } else if (config.API_KEYS.length === 0 && config.API_KEYS_FILE === '') {
    note(
      'API_KEYS is empty: routes that change something answer local callers only',
      'to let others in, set API_KEYS to what "relay keys new" prints',
    );
  }
  for (const { name, what } of weakKeys(config.API_KEYS))
    note(what, `replace it with what "relay keys new ${name}" prints`);
  if (open && config.RATE_LIMIT === 0) {
    note('RATE_LIMIT is 0 on an address that others can reach', 'set RATE_LIMIT, or HOST to 127.0.0.1');
  }
  if (isPublic(config) && config.UNKNOWN_EVENTS === 'show' && config.UNKNOWN_EVENT_FIELDS.length === 0) {
    note(
      'UNKNOWN_EVENTS is show: events of unknown types put their whole payload into #bounties, for everybody to read',
      'name what may be shown in UNKNOWN_EVENT_FIELDS, or set UNKNOWN_EVENTS to ignore or reject',
    );
  }
  if (readsUnfolded(config))
    note(
      'ROLES has no projections, and DATABASE_URL is empty: what is read here is folded by nobody, and answered with 503',
      'set DATABASE_URL to the store that another process folds, or add projections to ROLES',
    );
  const triesMs = config.EVENT_RETRY_MS * config.EVENT_MAX_RETRIES;
  if (config.EVENT_TTL_MS < triesMs)
    note(
      `EVENT_TTL_MS is ${config.EVENT_TTL_MS}: events expire before they have had their ${config.EVENT_MAX_RETRIES} tries`,
      `set EVENT_TTL_MS to ${triesMs} or more, which is EVENT_RETRY_MS times EVENT_MAX_RETRIES`,
    );
  if (webhooksMayReachLoopback(config)) {
    note(
      'WEBHOOK_LOOPBACK is true: whoever has an agent key can have programs on this machine posted to',
      'leave it out where others have keys',
    );
  } else if (config.WEBHOOK_LOOPBACK) {
    note(
      'WEBHOOK_LOOPBACK has no effect: others can reach this service',
      'leave it out, or set HOST and PUBLIC_URL to this machine',
    );
  }
  if (config.NATS_URL !== '' && config.NATS_REPLICAS === 1) {
    note(
      'NATS_REPLICAS is 1: the facts are on one server only',
      'set NATS_REPLICAS to 3 on a cluster of three servers or more',
    );
  }
  if (config.IRC_URL !== '' && config.IRC_OPER_NAME === '') {
    note(
      'IRC_OPER_NAME is empty: channels cannot be kept, and our bots cannot enter closed ones, nor end a stale session at once',
      'set IRC_OPER_NAME and IRC_OPER_PASSWORD',
    );
  }
  if (config.IRC_URL.startsWith('irc://') && !/^irc:\/\/(127\.|localhost|\[::1\])/.test(config.IRC_URL)) {
    note('IRC_URL is not encrypted (irc://): passwords cross the network in the clear', 'use ircs://');
  }
  if ((config.EM_IDENTITY_WEBHOOK_URL === '') !== (config.EM_IDENTITY_WEBHOOK_SECRET === '')) {
    note(
      'only one of EM_IDENTITY_WEBHOOK_URL and EM_IDENTITY_WEBHOOK_SECRET is set: identity changes are told to nobody',
      'set both or neither',
    );
  }
  // the endpoint alone has a use: payments are looked up there
  if (config.ERC8004_REGISTRY !== '' && config.CHAIN_RPC_URL === '') {
    note(
      'ERC8004_REGISTRY is set without CHAIN_RPC_URL: nobody gets beyond identity level 2',
      'set CHAIN_RPC_URL to an endpoint of the chain that has the registry',
    );
  }
  return risks;
}

import { z } from 'zod';
import { type AgentKey, agentKeysInUse } from '../../../projections/keys.js';
import { Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { keyDays, keysDecider, maxKeys, maxKeysMade, keys as stream } from '../../../streams/keys/index.js';
import { type Caller, isOperator, ownScopes, type Scope, scopes } from '../core/caller.js';
import { Nick, nickname, Time, text, walletAddress } from '../core/fields.js';
import { operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';
import { earlier, makeKey, tieTo } from './make.js';
import type { KeysParts } from './parts.js';

const define = operationsOf({ tag: 'Authentication' });

const dayMs = 24 * 3_600_000;

const Key = z
  .object({
    id: text('k3mf7q2xa4bc'),
    nick: nickname,
    name: text('worker'),
    scopes: z.array(z.enum(scopes)).meta({ example: ['read', 'rate'] }),
    wallet: walletAddress
      .nullable()
      .describe('In lower case; null where the operator gave it to a nick without one'),
    created_at: Time,
    expires_at: Time,
  })
  .meta({ id: 'AgentKey' });
const keyId = text('k3mf7q2xa4bc').describe('Id of the key');

/** Gives out a key that acts as one nick. */
export const issueKey = define('issueKey', {
  summary: 'Get an agent key, which acts as one nick',
  description: `With an operator’s key for any nick, or signed by the verified wallet of the nick (level 2). An agent key that is good for \`operate\` gets others for its own nick: they are good for no more and no longer, end with it, and give none. At most ${maxKeys} are in use at once, and ${maxKeysMade} are made an hour; operators are not counted. A key opens nothing while its nick is not linked with its wallet, or the wallet is not verified.`,
  access: scope('operate', { as: 'nick', wallet: 'own' }),
  input: z.object({
    nick: Nick.optional().describe('The nick that it acts as; when left out, that of the wallet that signs'),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .default([...ownScopes])
      .describe(`What it is good for; a wallet gives ${ownScopes.join(', ')}, an operator all of them`)
      .meta({ example: ['read', 'rate'] }),
    name: z.string().trim().max(64).default('').describe('What you call it').meta({ example: 'worker' }),
    days: z.int().min(1).max(keyDays.most).default(keyDays.usual).describe('How long it is good for'),
  }),
  status: 201,
  says: 'The key, which is shown this once and stored nowhere',
  output: Key.extend({
    key: text('rak_k3mf7q2xa4bc_4s2n0Zq7mXbT1kVw8yLdRf5uHcJ3eGaP6oNiS9tDzBQ').describe(
      'Send it as X-Api-Key',
    ),
  }),
  refusals: {
    too_many_keys: true,
    rate_limited: 'So many keys were made for this nick in the last hour',
    nickname_reserved: true,
    scope_of_operators: true,
    key_of_a_key: true,
    upstream_unreachable: true,
  },
  http: { method: 'post', path: '/auth/keys', headersOf: () => ({ 'cache-control': 'no-store' }) },
  run: async ({ nick: given, days, name, ...asked }, caller, { log, keys }: KeysParts) => {
    const nick = nickOf(given, caller);
    const wanted = scopes.filter((scope) => asked.scopes.includes(scope));
    requireGrantable(wanted, caller);
    const key = { nick, wallet: await walletOf(nick, caller, keys), name, scopes: wanted };
    const asLong = new Date(log.now().getTime() + days * dayMs);
    const maker = { actor: caller.actor, cause: caller.cause, isOperator: isOperator(caller) };
    if (caller.is !== 'agent') return await makeKey({ log, keys }, { ...key, expiresAt: asLong }, maker);
    const { parent, ends } = await tieTo(caller, { keys });
    return await makeKey({ log, keys }, { ...key, parent, expiresAt: earlier(ends, asLong) }, maker);
  },
});

/** The keys that are in use. */
export const listKeys = define('listKeys', {
  summary: 'The agent keys in use, without the keys themselves',
  description: 'Those of the wallet that signs; with an operator’s key those of a nick, or of all.',
  access: scope('operate', { wallet: 'own' }),
  input: z.object({ nick: Nick.optional().describe('Only keys of this nick') }),
  says: 'Newest first, 1,000 at most',
  output: z.object({ keys: z.array(Key) }),
  refusals: { upstream_unreachable: true },
  http: { method: 'get', path: '/auth/keys' },
  run: async ({ nick }, caller, { log, keys: { rows } }: KeysParts): Promise<{ keys: AgentKey[] }> => {
    const wallet = caller.is === 'wallet' ? caller.actor : undefined;
    const wanted = { now: log.now(), nick: nick === undefined ? undefined : casefold(nick), wallet };
    return { keys: await rows.read(agentKeysInUse, wanted) };
  },
});

/** Ends a key at once, in every process. */
export const revokeKey = define('revokeKey', {
  summary: 'Revoke an agent key: it opens nothing any more',
  description: 'Signed by the wallet that it belongs to, or with an operator’s key.',
  access: scope('operate', { wallet: 'own' }),
  input: z.object({ id: keyId }),
  says: 'It is revoked',
  output: z.object({ revoked: z.literal(true), id: keyId }),
  refusals: { key_not_found: true, upstream_unreachable: true },
  http: { method: 'delete', path: '/auth/keys/{id}' },
  run: async ({ id }, caller, { log, keys: { rows, lock } }: KeysParts) => {
    const wallet = caller.is === 'wallet' ? caller.actor : undefined;
    const found = (await rows.read(agentKeysInUse, { now: new Date(0), wallet, id }))[0];
    if (!found) throw new Refusal('key_not_found');
    const { nick } = found;
    const command = { is: 'revoke' as const, nick, id, ...(wallet === undefined ? {} : { wallet }) };
    const { position } = await lock.run(nick, () =>
      log.handle(stream, keysDecider, command, { by: caller.actor, cause: caller.cause ?? null }),
    );
    rows.wrote(position);
    return { revoked: true as const, id };
  },
});

/** Keys of agents. */
export const keysOperations = [issueKey, listKeys, revokeKey];

function nickOf(given: string | undefined, caller: Caller): string {
  const nick = given === undefined ? caller.nick : casefold(given);
  if (nick !== undefined) return nick;
  const details = [{ path: 'nick', message: 'nick is missing' }];
  throw new Refusal('validation_failed', 'nick is missing', { details });
}

async function walletOf(nick: string, caller: Caller, keys: KeysParts['keys']): Promise<string | null> {
  if (caller.is === 'wallet') return caller.actor;
  return caller.is === 'agent' ? caller.wallet : await keys.walletOf(nick);
}

function requireGrantable(wanted: readonly Scope[], caller: Caller): void {
  const mayGive = caller.is === 'wallet' ? ownScopes : caller.is === 'agent' ? caller.scopes : scopes;
  const missing = wanted.filter((scope) => !mayGive.includes(scope));
  if (missing.length > 0)
    throw new Refusal('scope_of_operators', `You give no keys for ${missing.join(', ')}`);
}

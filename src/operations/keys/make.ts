import { agentKey, keysOfClient } from '../../../projections/keys.js';
import { Refusal } from '../../../streams/core/index.js';
import { type KeyCommand, keysDecider, keys as stream } from '../../../streams/keys/index.js';
import type { AgentCaller, Caller, Scope } from '../core/caller.js';
import { withinLimit } from '../core/person-limit.js';
import type { KeysParts } from './parts.js';

/** A key to make, once it is known that it may be made. */
export interface WantedKey {
  /** Casefolded. */
  nick: string;
  /** The address of the wallet of the nick, in lower case; null where the nick has none. */
  wallet: string | null;
  name: string;
  scopes: Scope[];
  expiresAt: Date;
  /** The program that it is for, where that is known. */
  client?: string;
  /** Id of the key that it is got with. */
  parent?: string;
}

/** A key as its holder gets it, this once. */
export interface MadeKey {
  id: string;
  nick: string;
  name: string;
  scopes: Scope[];
  wallet: string | null;
  created_at: string;
  expires_at: string;
  key: string;
}

/**
 * What ties a key to the one that it is got with: it ends with it, and at that time at the latest. So nobody outlasts the
 * revocation of a key by more of them. Throws 401 `api_key_invalid`, and 403 `key_of_a_key`.
 */
export async function tieTo(
  { key: parent }: AgentCaller,
  { keys }: Pick<KeysParts, 'keys'>,
): Promise<{ parent: string; ends: Date }> {
  const known = await keys.rows.read(agentKey, parent);
  if (!known) throw new Refusal('api_key_invalid');
  if (known.parent !== null) throw new Refusal('key_of_a_key');
  return { parent, ends: new Date(known.expires_at) };
}

/** The earlier of two times. */
export const earlier = (a: Date, b: Date): Date => (a < b ? a : b);

/**
 * Makes a key and records its hash. Where as many are in use as may be, one for a program takes the place of the oldest
 * of the same program. Throws 409 `too_many_keys`, 409 `nickname_reserved`, and 429 `rate_limited`.
 */
export async function makeKey(
  { log, keys }: KeysParts,
  { expiresAt, client, parent, ...wanted }: WantedKey,
  maker: { actor: Caller['actor']; cause?: string | null | undefined; isOperator?: boolean },
): Promise<MadeKey> {
  const { nick, wallet, name, scopes } = wanted;
  const { actor: by, cause = null, isOperator = false } = maker;
  if (keys.isKept(nick)) throw new Refusal('nickname_reserved');
  const { id, key, hash } = keys.make();
  const expires_at = expiresAt.toISOString();
  const ends = { ...(client === undefined ? {} : { client }), ...(parent === undefined ? {} : { parent }) };
  const handle = (command: KeyCommand) => log.handle(stream, keysDecider, command, { by, cause });
  const issue = () => handle({ is: 'issue', id, nick, wallet, name, scopes, hash, expires_at, ...ends });
  const issueInTurn = () =>
    keys.lock.run(nick, async () => {
      try {
        return await issue();
      } catch (error) {
        if (client === undefined || (error as { code?: unknown }).code !== 'too_many_keys') throw error;
        const [oldest] = await keys.rows.read(keysOfClient, { now: log.now(), nick, wallet, client });
        if (oldest === undefined) throw error;
        await handle({ is: 'revoke', nick, id: oldest });
        return await issue();
      }
    });
  const person = isOperator ? undefined : nick;
  const { position } = await withinLimit({ person, what: 'keys', counts: keys.made }, issueInTurn);
  keys.rows.wrote(position);
  return { id, nick, name, scopes, wallet, created_at: log.now().toISOString(), expires_at, key };
}

import { provenWallets } from '../../projections/identity/queries.js';
import { keysInUseOf } from '../../projections/keys.js';
import type { ReadModels } from '../stores/read-models.js';
import { agentKeyOf } from './agent-keys.js';

/**
 * Which of those who act (`actor` of callers) are agent keys that open nothing any more: revoked, expired, or of a nick that
 * has another wallet now.
 */
export async function endedKeys(
  readModels: Pick<ReadModels, 'read'>,
  actors: readonly string[],
  now: Date,
): Promise<Set<string>> {
  const ended = new Map<string, string>();
  for (const actor of actors) {
    const id = agentKeyOf(actor);
    if (id !== undefined) ended.set(id, actor);
  }
  if (ended.size === 0) return new Set();
  const ids = [...ended.keys()];
  const inUse = await readModels.read('agent_keys', (sql, schema) => keysInUseOf(sql, schema, { now, ids }));
  const nicks = inUse.map(({ nick }) => nick);
  const wallets = await readModels.read('identity_links', (sql, schema) => provenWallets(sql, schema, nicks));
  for (const { id, nick, wallet } of inUse) if ((wallets.get(nick) ?? null) === wallet) ended.delete(id);
  return new Set(ended.values());
}

import { agentKey, type StoredKey } from '../../../projections/keys.js';
import { isExpected, Unavailable } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { walletKey } from '../../../streams/identity/index.js';
import { keysSubject, maxKeysMade, keys as stream } from '../../../streams/keys/index.js';
import { looksLikeAny } from '../../../streams/nick-looks.js';
import { AgentKeys, newAgentKey } from '../../auth/agent-keys.js';
import { provenLevel } from '../../auth/nick-wallets.js';
import { keptNicks } from '../../config/bot-nicks.js';
import { nobody } from '../../operations/core/call.js';
import { getLinkOfNick } from '../../operations/identity/links.js';
import type { KeysParts } from '../../operations/keys/parts.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { hourlyCounts } from '../hourly-counts.js';
import type { Area, AreaParts } from './area.js';

/** Keys of agents: giving them out, and telling whose a request carries. */
export function keysArea({ config, log, readModels, keys: apiKeys, call }: AreaParts): Area & {
  parts: Pick<KeysParts, 'keys'>;
} {
  const rows = new OwnReadModel(readModels, 'agent_keys');
  const linkOf = (nick: string) => call(getLinkOfNick, { nick }, nobody);
  const kept = keptNicks(config);
  const keys: KeysParts['keys'] = {
    rows,
    lock: new KeyedLock(),
    make: newAgentKey,
    made: hourlyCounts(config, log, {
      name: 'RELAY_KEYS_MADE',
      description: 'Agent keys that were made in the last hour, by nick.',
      most: maxKeysMade,
    }),
    isKept: (nick) => looksLikeAny(nick, kept),
    walletOf: async (nick) => {
      try {
        const { wallet_address, level } = await linkOf(nick);
        return level >= provenLevel ? walletKey(wallet_address) : null;
      } catch (error) {
        if (isExpected(error) && error.status === 404) return null;
        throw error;
      }
    },
  };
  /** Kept for a moment, and not beyond the next change that this process hears of. */
  const find = (id: string): Promise<StoredKey | undefined> =>
    rows.recall(`key ${id}`, async (sql, schema) => {
      const found = await agentKey(sql, schema, id);
      if (!found) return undefined;
      // a read model that lags must not hold a key open that another process has revoked
      const last = await log.last(stream, keysSubject(found.nick));
      if (!last || last.seq <= found.seq) return found;
      if (!(await readModels.reached('agent_keys', last))) throw new Unavailable('read_model_behind');
      return await agentKey(sql, schema, id);
    });
  const perMinute = { key: config.KEY_RATE_LIMIT, nick: config.NICK_RATE_LIMIT };
  apiKeys.admit(new AgentKeys({ find, linkOf, now: () => log.now(), perMinute }));
  return { parts: { keys } };
}

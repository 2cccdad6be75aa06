import type { ReadModels } from '../../../src/stores/read-models.js';
import { personOfAgent } from '../../../workers/speech/index.js';

/** The wallet that an account has proven. */
const walletOf = (account: string): string => `0x${Buffer.from(account).toString('hex').padEnd(40, '0')}`;
/** The person that an account is at the gateway. */
export const personOf = (account: string): string =>
  personOfAgent({ nick: account, wallet: walletOf(account) });

/** Read models in which each account is linked to the wallet that it has proven. */
export function linked(models: ReadModels): ReadModels {
  const read: ReadModels['read'] = async (name, query, ...rest) => {
    if (name !== 'identity_links' && name !== 'agent_keys') return await models.read(name, query, ...rest);
    const rows = (text: string, [nicks]: unknown[] = []) =>
      /nick = any/.test(text) ? (nicks as string[]).map((nick) => ({ nick, wallet: walletOf(nick) })) : [];
    return await query(
      { query: async (text: string, params?: unknown[]) => rows(text, params) } as never,
      name,
    );
  };
  return {
    read,
    readAt: models.readAt.bind(models),
    reached: models.reached.bind(models),
  } as unknown as ReadModels;
}

import { provenWallets } from '../../../projections/identity/queries.js';
import { hostOf, personOfAgent } from '../../../workers/speech/index.js';
import type { ReadModels } from '../../stores/read-models.js';

/**
 * The hosts under which the gateway introduces the owner of an account (casefolded): that of the wallet with which it has
 * proven itself. Where no wallet has, somebody else may have registered the account of a nick that speaks there.
 */
export function gatewayHostsOf(readModels: ReadModels): (account: string) => Promise<string[]> {
  return async (nick) => {
    const proven = await readModels.read('identity_links', (sql, schema) =>
      provenWallets(sql, schema, [nick]),
    );
    return [...proven.values()].map((wallet) => hostOf(personOfAgent({ nick, wallet })));
  };
}

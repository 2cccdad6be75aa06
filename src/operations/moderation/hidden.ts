import { privateIrcChannels } from '../../../projections/network/queries.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type Caller, seesPrivate } from '../core/caller.js';

/** Private channels, which the public is not told about; `undefined` for those who may see everything. */
export async function hiddenFrom(
  caller: Caller,
  { readModels }: { readModels: ReadModels },
): Promise<readonly string[] | undefined> {
  if (seesPrivate(caller)) return undefined;
  return await readModels.recall('irc_network', 'private channels', privateIrcChannels);
}

import type { Nonces } from '../../auth/erc8128/nonces.js';
import { Authorization } from '../../oauth/authorization.js';
import { Codes } from '../../oauth/codes.js';
import { oauthRoutes } from '../../oauth/http.js';
import { nobody } from '../../operations/core/call.js';
import { getLinkOfWallet } from '../../operations/identity/links.js';
import type { KeysParts } from '../../operations/keys/parts.js';
import { addressesAt } from '../../pages/discovery/doors.js';
import type { Area, AreaParts } from './area.js';

/** Programs that people let in with a click, where that is switched on. */
export function oauthArea(
  { config, log, keys, call }: AreaParts,
  { nonces, agentKeys }: { nonces: Nonces; agentKeys: KeysParts['keys'] },
): Area {
  if (!config.OAUTH) return {};
  const publicUrl = config.PUBLIC_URL.replace(/\/+$/, '');
  const { authorize: page, mcp } = addressesAt(publicUrl);
  const authorization = new Authorization({
    publicUrl,
    page,
    nonces,
    resources: [mcp, publicUrl],
    parts: { log, keys: agentKeys },
    codes: new Codes({ log, replicas: config.NATS_REPLICAS }),
    linkOfWallet: (address) => call(getLinkOfWallet, { address }, nobody),
  });
  return {
    api: async (server) => void (await server.register(oauthRoutes, { authorization, keys, publicUrl })),
  };
}

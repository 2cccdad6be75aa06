import { createSignerClient } from '@slicekit/erc8128';
import { createClient, type Fetch, type RelayClientOptions } from './client.js';

/** A wallet that signs messages (`personal_sign`), such as an account of viem. */
export interface WalletAccount {
  /** The address of the wallet. */
  address: `0x${string}`;
  /** Signs bytes as `personal_sign` does, and resolves with the signature in hex. */
  signMessage(options: { message: { raw: Uint8Array } }): Promise<`0x${string}`>;
}

/**
 * Makes a `fetch` for `createClient` that signs each request with a wallet (ERC-8128), in place of an API key. It asks
 * the service once for its rules, and for a nonce before each request. There are 30 nonces a minute, so use it only for
 * what needs a wallet. Its requests throw `RelayError` when the service gives no rules or no nonce.
 */
export function walletFetch(
  account: WalletAccount,
  { baseUrl, fetch = globalThis.fetch }: Omit<RelayClientOptions, 'apiKey'>,
): Fetch {
  const service = createClient({ baseUrl, fetch });
  let rules: ReturnType<typeof readRules> | undefined;

  async function readRules() {
    const { authority, supported_chains, policy } = await service.get('/auth/erc8128/info');
    return { authority, chainId: supported_chains[0]!, ttlSeconds: policy.max_validity_sec };
  }

  return async (request) => {
    rules ??= readRules();
    const { authority, chainId, ttlSeconds } = await rules.catch((error: unknown) => {
      rules = undefined; // asked again with the next request
      throw error;
    });
    const { nonce } = await service.get('/auth/erc8128/nonce');
    const { protocol, pathname, search } = new URL(request.url);
    const { method } = request;
    const body = await request.clone().arrayBuffer();
    const signer = createSignerClient({
      chainId,
      address: account.address,
      signMessage: (raw) => account.signMessage({ message: { raw } }),
    });
    // for the host that the service is known by, over whichever address it is reached
    const signed = await signer.signRequest(
      `${protocol}//${authority}${pathname}${search}`,
      { method, headers: request.headers, ...(body.byteLength > 0 ? { body } : {}) },
      { nonce, ttlSeconds },
    );
    const headers = new Headers(request.headers);
    for (const name of ['signature', 'signature-input', 'content-digest']) {
      const value = signed.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    return await fetch(new Request(request, { headers }));
  };
}

import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  isAddressEqual,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from 'viem';
import type { Fate } from '../../streams/payments/index.js';
import { boundedFetch } from '../core/fetch.js';

/** An authorization whose fate is asked for. */
export interface Authorization {
  /** CAIP-2. */
  network: string;
  asset: string;
  payer: string;
  nonce: string;
  payTo: string;
  /** The amount in the smallest unit of the asset, as a whole number. */
  amount: string;
}

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
const [, used, transfer] = abi;
/** How far back it is looked for, in blocks: RPC servers limit this. */
const blocksBack = 9_000n;
const patienceMs = 5_000;

/** The chain of an RPC endpoint, as far as it knows the fate of authorizations. */
export class Chain {
  readonly #client: PublicClient;
  #id: Promise<number> | undefined;

  constructor(rpcUrl: string) {
    const transport = http(rpcUrl, {
      timeout: patienceMs,
      retryCount: 0,
      // by itself it waits for a body for ever
      fetchFn: (url, init) => boundedFetch(url, init, { timeoutMs: patienceMs }),
    });
    this.#client = createPublicClient({ transport });
  }

  /** `undefined` if it cannot tell: it is another chain, or away, or it happened too long ago. */
  async fateOf(authorization: Authorization): Promise<Fate | undefined> {
    const { network, asset, payer, nonce } = authorization;
    try {
      if (network !== `eip155:${await this.#chainId()}`) return undefined;
      const [address, authorizer] = [asset as Address, payer as Address];
      const args = [authorizer, nonce as Hex] as const;
      const state = { address, abi, functionName: 'authorizationState', args } as const;
      if (await this.#client.readContract(state)) return await this.#use(authorization);
      // both from one block: one endpoint may have several servers with different blocks
      const { number: blockNumber, timestamp } = await this.#client.getBlock();
      const isUsed = await this.#client.readContract({ ...state, blockNumber }).catch(() => true);
      return isUsed ? { is: 'unused' } : { is: 'unused', at: Number(timestamp) };
    } catch {
      return undefined;
    }
  }

  /**
   * A used authorization alone does not prove that the money came: it may have been cancelled. The transfer
   * proves it.
   */
  async #use({ asset, payer, nonce, payTo, amount }: Authorization): Promise<Fate | undefined> {
    const latest = await this.#client.getBlockNumber();
    const fromBlock = latest > blocksBack ? latest - blocksBack : 0n;
    const address = asset as Address;
    const args = { authorizer: payer as Address, nonce: nonce as Hex };
    const [use] = await this.#client.getLogs({ address, event: used!, args, fromBlock });
    if (!use) return fromBlock === 0n ? { is: 'void' } : undefined;
    // the receipt has all effects, from a server that knows them: one that lags would show the block without
    // transfers
    const { logs } = await this.#client.getTransactionReceipt({ hash: use.transactionHash });
    const isPaid = parseEventLogs({ abi: [transfer!], logs }).some(
      ({ address, args: { from, to, value } }) =>
        isAddressEqual(address, asset as Address) &&
        isAddressEqual(from, payer as Address) &&
        isAddressEqual(to, payTo as Address) &&
        String(value) === amount,
    );
    return isPaid ? { is: 'paid', transaction: use.transactionHash } : { is: 'void' };
  }

  async #chainId(): Promise<number> {
    this.#id ??= this.#client.getChainId().catch((error: unknown) => {
      this.#id = undefined;
      throw error;
    });
    return await this.#id;
  }
}

import {
  type Address,
  createPublicClient,
  getAddress,
  http,
  isAddressEqual,
  type PublicClient,
  parseAbi,
} from 'viem';
import { boundedCache, causesOf } from '../../../streams/core/index.js';
import { boundedFetch } from '../../core/fetch.js';

/** What is read of an ERC-8004 identity registry. */
const registryAbi = parseAbi([
  'event Registered(uint256 indexed agentId, string agentURI, address indexed owner)',
  'function ownerOf(uint256 agentId) view returns (address)',
  'function getAgentWallet(uint256 agentId) view returns (address)',
]);

/** Which registry, and where it is read. */
export interface AgentRegistryOptions {
  /** JSON-RPC over HTTP. */
  rpcUrl: string;
  address: string;
  /** Longest wait for one answer of the chain, in milliseconds; 10,000 by default. */
  timeoutMs?: number;
}

/** The registrations of a wallet, up to a block. */
interface Known {
  ids: readonly bigint[];
  upTo: bigint;
}

/** Requests of one look at most: endpoints that take small ranges only are no use for a whole chain. */
const mostRequests = 128;
const smallestRange = 10n;
/** The newest blocks are read once more the next time: others may have come in their place. */
const unsettledBlocks = 64n;
/** Wallets whose registrations are remembered at most. Those of another are read from the first block on. */
const mostRemembered = 20_000;
/** What is known of a wallet that was never looked for. */
const nothing: Known = { ids: [], upTo: -1n };

/**
 * An ERC-8004 registry on a chain: which agent id a wallet has. A registry does not list its agents by wallet; a wallet's
 * are found by the events of their registration, and count while they are its own still.
 */
export class AgentRegistry {
  readonly #client: PublicClient;
  readonly #address: Address;
  /** Registrations that were found before: only newer blocks are read again. */
  readonly #known = boundedCache<string, Known>(mostRemembered);

  constructor({ rpcUrl, address, timeoutMs = 10_000 }: AgentRegistryOptions) {
    const transport = http(rpcUrl, {
      timeout: timeoutMs,
      retryCount: 1,
      // by itself it waits for a body for ever
      fetchFn: (url, init) => boundedFetch(url, init, { timeoutMs }),
    });
    this.#client = createPublicClient({ transport });
    this.#address = getAddress(address.toLowerCase());
  }

  /** The lowest agent id that is a wallet's now; null when none is. Throws when the chain cannot be asked. */
  async agentOf(wallet: string): Promise<number | null> {
    return (await this.agentsOf([wallet])).get(wallet.toLowerCase()) ?? null;
  }

  /** The same for several wallets at once, by wallet in lower case; wallets without an agent are left out. */
  async agentsOf(wallets: readonly string[]): Promise<Map<string, number>> {
    const keys = [...new Set(wallets.map((wallet) => wallet.toLowerCase()))];
    const latest = await this.#client.getBlockNumber({ cacheTime: 0 });
    // what is found counts for this answer also when it is forgotten meanwhile
    const found = new Map(keys.map((key) => [key, this.#known.get(key) ?? nothing]));
    const upTo = latest > unsettledBlocks ? latest - unsettledBlocks : -1n;
    for (const [from, owners] of byFirstUnread(found)) {
      if (from > latest) continue;
      const newer = await this.#registrations(owners, from, latest);
      for (const owner of owners) {
        const ids = new Set([...(found.get(owner)?.ids ?? []), ...(newer.get(owner) ?? [])]);
        const known = { ids: [...ids], upTo };
        found.set(owner, known);
        this.#known.set(owner, known);
      }
    }
    const agents = new Map<string, number>();
    for (const [key, { ids }] of found) {
      const id = await this.#lowestOwned(key, ids);
      if (id !== undefined) agents.set(key, id);
    }
    return agents;
  }

  /** Reads registrations in ever smaller ranges while the endpoint calls them too large. */
  async #registrations(
    owners: readonly string[],
    first: bigint,
    last: bigint,
  ): Promise<Map<string, bigint[]>> {
    const ids = new Map<string, bigint[]>();
    let size = last - first + 1n;
    let requests = 0;
    for (let from = first; from <= last; ) {
      const to = from + size - 1n < last ? from + size - 1n : last;
      if (++requests > mostRequests) throw new Error('the chain endpoint takes too small ranges of blocks');
      try {
        const events = await this.#client.getContractEvents({
          address: this.#address,
          abi: registryAbi,
          eventName: 'Registered',
          strict: true,
          args: { owner: owners as Address[] },
          fromBlock: from,
          toBlock: to,
        });
        for (const { args } of events) {
          const owner = args.owner.toLowerCase();
          ids.set(owner, [...(ids.get(owner) ?? []), args.agentId]);
        }
        from = to + 1n;
      } catch (error) {
        if (!isTooMuch(error) || size <= smallestRange) throw error;
        size /= 2n;
      }
    }
    return ids;
  }

  async #lowestOwned(owner: string, ids: readonly bigint[]): Promise<number | undefined> {
    for (const id of [...ids].sort((a, b) => (a < b ? -1 : 1))) {
      if (id <= BigInt(Number.MAX_SAFE_INTEGER) && (await this.#isOf(id, owner))) return Number(id);
    }
    return undefined;
  }

  async #isOf(id: bigint, owner: string): Promise<boolean> {
    const holders = await Promise.all([this.#read('ownerOf', id), this.#read('getAgentWallet', id)]);
    return holders.some((holder) => holder !== undefined && isAddressEqual(holder, owner as Address));
  }

  /** `undefined` where the registry says no: an agent that is no more, or a registry without agent wallets. */
  async #read(functionName: 'ownerOf' | 'getAgentWallet', id: bigint): Promise<Address | undefined> {
    try {
      return await this.#client.readContract({
        address: this.#address,
        abi: registryAbi,
        functionName,
        args: [id],
      });
    } catch (error) {
      if (isNo(error)) return undefined;
      throw error;
    }
  }
}

/** Wallets by the first block that was not read for them. */
function byFirstUnread(known: ReadonlyMap<string, Known>): Map<bigint, string[]> {
  const groups = new Map<bigint, string[]>();
  for (const [key, { upTo }] of known) {
    const group = groups.get(upTo + 1n) ?? [];
    group.push(key);
    groups.set(upTo + 1n, group);
  }
  return groups;
}

const namesOf = (error: unknown): string[] => causesOf(error).map(({ name }) => name);

function isNo(error: unknown): boolean {
  return namesOf(error).some((name) =>
    ['ContractFunctionRevertedError', 'ContractFunctionZeroDataError'].includes(name),
  );
}

/** Whether the endpoint answered and did not like the question; then a smaller one may do. Some say so by HTTP status. */
function isTooMuch(error: unknown): boolean {
  const isUnanswered = namesOf(error).some((name) => ['TimeoutError', 'HttpRequestError'].includes(name));
  const statuses = causesOf(error).map((cause) => (cause as { status?: number }).status);
  return !isUnanswered || statuses.includes(400) || statuses.includes(413);
}

import type { World } from '../world.js';
import type { Asked } from './outside.js';

/** What a payer has signed: an amount for somebody, once, until a moment in seconds of Unix time. */
export interface SignedTransfer {
  from: string;
  to: string;
  value: string;
  validBefore: string;
  nonce: string;
}

/** What became of an authorization on the chain. */
interface Use {
  block: number;
  hash: string;
  /** The money that moved. */
  moved: SignedTransfer;
}

/** Which logs somebody asks for. */
interface Filter {
  topics: (string | null)[];
  address: string;
}

const firstBlock = 1_000_000;
const blockMs = 2_000;
const signatures = {
  used: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
};

/** The token of a chain that payments move, and the servers that report on it. Some of them lag. */
export class SimulatedChain {
  /** How many blocks a server may be behind. */
  lag = 0;
  /** Transfers that came to pass, in order. */
  readonly moved: SignedTransfer[] = [];
  readonly #world: World;
  readonly #token: string;
  readonly #random;
  readonly #uses = new Map<string, Use>();
  readonly #balances = new Map<string, bigint>();
  #transactions = 0;

  constructor(world: World, token: string) {
    this.#world = world;
    this.#token = token;
    this.#random = world.random.fork();
  }

  /** Gives somebody money. */
  fund(address: string, amount: bigint): void {
    this.#balances.set(address, amount);
  }

  /** The last block, as servers without a lag know it. */
  get head(): number {
    return firstBlock + Math.floor(this.#world.elapsed / blockMs);
  }

  /** Why a transfer is not possible now, if it is not. */
  obstacle({ from, nonce, value, validBefore }: SignedTransfer): string | undefined {
    if (this.#uses.has(keyOf(from, nonce))) return 'invalid_exact_evm_nonce_already_used';
    if (Number(validBefore) * 1_000 <= this.#world.now)
      return 'invalid_exact_evm_payload_authorization_valid_before';
    if ((this.#balances.get(from) ?? 0n) < BigInt(value)) return 'insufficient_funds';
    return undefined;
  }

  /** What is in the next block; `undefined` if the transfer is not possible then. */
  transfer(signed: SignedTransfer): string | undefined {
    if (this.obstacle(signed) !== undefined) return undefined;
    this.#balances.set(signed.from, this.#balances.get(signed.from)! - BigInt(signed.value));
    this.moved.push(signed);
    const hash = this.newHash();
    this.#uses.set(keyOf(signed.from, signed.nonce), { block: this.head + 1, hash, moved: signed });
    return hash;
  }

  /** The money that was moved for an authorization. */
  movedFor(from: string, nonce: string): SignedTransfer | undefined {
    return this.#uses.get(keyOf(from, nonce))?.moved;
  }

  /** How long it is until the next block, in milliseconds. */
  get untilBlock(): number {
    return blockMs - (this.#world.elapsed % blockMs);
  }

  /** A hash for a transaction that failed. */
  newHash(): string {
    this.#transactions += 1;
    return `0x${this.#transactions.toString(16).padStart(64, '0')}`;
  }

  /** Answers as an RPC server. */
  serve({ body }: Asked): Response {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: never[] };
    const seen = this.head - (this.lag > 0 ? this.#random.int(0, this.lag) : 0);
    try {
      return Response.json({ jsonrpc: '2.0', id, result: this.#answer(method, params, seen) });
    } catch (error) {
      const { message } = error as Error;
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32_000, message } });
    }
  }

  #answer(method: string, params: never[], seen: number): unknown {
    switch (method) {
      case 'eth_chainId':
        return hex(8453);
      case 'eth_blockNumber':
        return hex(seen);
      case 'eth_getBlockByNumber':
        return this.#block(seen);
      case 'eth_call': {
        const [{ data }, block] = params as unknown as [{ data: string }, string];
        const at = block === 'latest' ? seen : Number(block);
        if (at > seen) throw new Error('header not found');
        // the selector, an address in 32 bytes, a nonce
        const use = this.#uses.get(keyOf(`0x${data.slice(34, 74)}`, `0x${data.slice(74)}`));
        return hex(use !== undefined && use.block <= at ? 1 : 0, 64);
      }
      case 'eth_getLogs':
        return this.#logs(params[0]!, seen);
      case 'eth_getTransactionReceipt':
        return this.#receipt(params[0]!, seen);
      default:
        throw new Error(`the method ${method} does not exist`);
    }
  }

  #logs({ topics: [kind, payer, nonce], address }: Filter, seen: number): unknown[] {
    if (kind !== signatures.used) throw new Error(`nobody asks for ${kind}`);
    const use = this.#uses.get(keyOf(`0x${payer!.slice(26)}`, nonce!));
    return use && use.block <= seen ? [logOf(use, address, [kind, payer!, nonce!])] : [];
  }

  #receipt(hash: string, seen: number): unknown {
    const use = [...this.#uses.values()].find((one) => one.hash === hash);
    if (!use || use.block > seen) return null;
    const { from, to, value } = use.moved;
    const topics = [signatures.transfer, topicOf(from), topicOf(to)];
    return {
      transactionHash: hash,
      transactionIndex: '0x0',
      status: '0x1',
      type: '0x2',
      from,
      to: this.#token,
      blockNumber: hex(use.block),
      blockHash: blockHash(use.block),
      logsBloom: '0x',
      contractAddress: null,
      gasUsed: '0x1',
      cumulativeGasUsed: '0x1',
      effectiveGasPrice: '0x1',
      logs: [logOf(use, this.#token, topics, hex(BigInt(value), 64))],
    };
  }

  #block(number: number): unknown {
    const { now, elapsed } = this.#world;
    const at = now - elapsed + (number - firstBlock) * blockMs;
    return {
      number: hex(number),
      hash: blockHash(number),
      parentHash: blockHash(number - 1),
      timestamp: hex(Math.floor(at / 1_000)),
      transactions: [],
      size: hex(1),
      gasLimit: hex(1),
      gasUsed: hex(0),
      difficulty: hex(0),
      totalDifficulty: hex(0),
      baseFeePerGas: hex(1),
      nonce: null,
    };
  }
}

const keyOf = (from: string, nonce: string) => `${from} ${nonce}`.toLowerCase();
const hex = (value: number | bigint, digits = 1) => `0x${value.toString(16).padStart(digits, '0')}`;
const topicOf = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
const blockHash = (number: number) => `0x${'b'.repeat(32)}${number.toString(16).padStart(32, '0')}`;

function logOf({ block, hash }: Use, address: string, topics: string[], data = '0x') {
  return {
    address,
    topics,
    data,
    blockNumber: hex(block),
    blockHash: blockHash(block),
    transactionHash: hash,
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  };
}

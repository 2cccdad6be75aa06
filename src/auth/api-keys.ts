import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../streams/core/index.js';
import { type AgentCaller, type Caller, nobody } from '../operations/core/caller.js';
import { type AgentKeys, isAgentKey } from './agent-keys.js';
import { isLocalHost, isOnThisMachine } from './client-address.js';
import { type ApiKey, KeyFile } from './key-file.js';

interface StoredKey {
  name: string;
  digest: Buffer;
}

/** Keys shorter than this can be guessed. */
const minKeyLength = 32;

/** Complaints about keys that can be guessed; no key is in the texts. */
export function weakKeys(keys: readonly ApiKey[]): { name: string; what: string }[] {
  const weak = keys.filter(({ key }) => key.length < minKeyLength);
  return weak.map(({ name }) => ({
    name,
    what: `the API key of ${name} is shorter than ${minKeyLength} characters`,
  }));
}

/** Where callers are told how many requests they have left. */
type Answering = Pick<FastifyReply, 'headers' | 'getHeader'>;

/** Decides who may use the routes that change something or show private things. */
export class ApiKeys {
  readonly #given: StoredKey[];
  #file: KeyFile | undefined;
  /** Keys of the file as they were last read, and the form in which they are compared. */
  #read: { keys: ApiKey[]; stored: StoredKey[] } | undefined;
  #risk: (what: string) => void = () => {};
  #agents: AgentKeys | undefined;
  readonly #isPublic: boolean;

  /** `isPublic`: others than those on this machine may reach the service, so a proxy may be any caller there. */
  constructor(keys: ApiKey[], { isPublic = false }: { isPublic?: boolean } = {}) {
    this.#given = keys.map(stored);
    this.#isPublic = isPublic;
  }

  /** Whether there is anything to compare a key with; a file may be empty for a while. */
  get configured(): boolean {
    return this.#given.length > 0 || this.#file !== undefined;
  }

  /**
   * Takes keys from a file too, and follows its changes: a key can come and go while the service runs. Throws
   * if the file cannot be used now. Later the last good one stays, and `trouble` is called. `risk` is called
   * for each key that can be guessed, now and whenever the file has changed.
   */
  follow(path: string, trouble: (error: Error) => void, risk: (what: string) => void = () => {}): void {
    this.#file = new KeyFile(path, trouble);
    this.#risk = risk;
    this.#take(this.#file.keys());
  }

  /** Takes keys of agents too. */
  admit(agents: AgentKeys): void {
    this.#agents = agents;
  }

  get #keys(): StoredKey[] {
    const keys = this.#file?.keys();
    return keys ? this.#take(keys) : this.#given;
  }

  #take(keys: ApiKey[]): StoredKey[] {
    if (keys === this.#read?.keys) return this.#read.stored;
    for (const { what } of weakKeys(keys)) this.#risk(what);
    this.#read = { keys, stored: [...this.#given, ...keys.map(stored)] };
    return this.#read.stored;
  }

  /**
   * Name of the operator's key that the request carries; `undefined` without one. Throws 401 for a wrong one.
   */
  identify(request: FastifyRequest): string | undefined {
    const given = credential(request);
    if (given === undefined) return undefined;
    const wanted = digest(given);
    let found: string | undefined;
    // all are compared, so that the time does not tell how many come before the right one
    for (const { name, digest: known } of this.#keys) if (timingSafeEqual(known, wanted)) found = name;
    if (found === undefined) throw new Refusal('api_key_invalid');
    return found;
  }

  /** The caller of an operation that is open and shows more with a key. Throws 401 for a wrong key. */
  async callerOf(request: FastifyRequest, reply?: Answering): Promise<Caller> {
    const agent = await this.#agentOf(request, reply);
    if (agent) return agent;
    if (!this.configured && isLocalCaller(request)) return local;
    const name = this.identify(request);
    return name === undefined ? nobody : { is: 'key', actor: name };
  }

  /**
   * The caller of an operation that needs a key. Throws 401 without a valid key. If no keys are configured,
   * throws 403 unless the caller is local.
   */
  async requireCaller(request: FastifyRequest, reply?: Answering): Promise<Caller> {
    const agent = await this.#agentOf(request, reply);
    if (agent) return agent;
    if (!this.configured) {
      if (isLocalCaller(request)) return local;
      throw new Refusal('api_keys_not_configured');
    }
    const name = this.identify(request);
    if (name === undefined) throw new Refusal('api_key_required');
    return { is: 'key', actor: name };
  }

  /**
   * The caller of an operation that a local caller needs no key for, because it tells nothing about anybody. On a public
   * service everybody needs one: a proxy that names no client looks like a local caller.
   * Throws like `requireCaller`.
   */
  async localOrKey(request: FastifyRequest, reply?: Answering): Promise<Caller> {
    const isLocal = !this.#isPublic && credential(request) === undefined && isLocalCaller(request);
    if (isLocal) return local;
    return await this.requireCaller(request, reply);
  }

  /** Counts further requests of a caller, which came in one with the first. Throws 429 beyond the limits. */
  countMore(caller: Caller, requests: number, reply: Answering): void {
    if (caller.is === 'agent' && requests > 0) this.#count(caller, requests, reply);
  }

  /** The holder of an agent key; `undefined` if the request carries none. */
  async #agentOf(request: FastifyRequest, reply: Answering | undefined): Promise<AgentCaller | undefined> {
    const given = credential(request);
    if (!this.#agents || given === undefined || !isAgentKey(given)) return undefined;
    const caller = await this.#agents.identify(given);
    this.#count(caller, 1, reply);
    return caller;
  }

  #count(caller: AgentCaller, requests: number, reply: Answering | undefined): void {
    const counted = this.#agents?.count(caller, requests);
    if (!counted) return;
    const { headers, refused } = counted;
    // the limit of the address is told already: the narrower one stays
    const known = reply?.getHeader('x-ratelimit-remaining');
    const isNarrower = known === undefined || Number(headers['x-ratelimit-remaining']) <= Number(known);
    if (isNarrower || refused) reply?.headers(headers);
    if (refused) throw refused;
  }
}

const local: Caller = { is: 'local', actor: 'local' };

/**
 * Whether a request comes from somebody at this machine. A browser there speaks for any web page that it
 * shows, and a proxy there for the whole world. So neither counts as local.
 */
function isLocalCaller(request: FastifyRequest): boolean {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  if (!isOnThisMachine(request) || !isLocalHost(host ?? '')) return false;
  // the picture of a page, as any GET of it, has no origin
  if (origin === undefined) return site !== 'cross-site';
  return isLocalHost(origin.replace(/^https?:\/\//, ''));
}

function credential(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'] ?? request.headers['x-mcp-api-key'];
  if (typeof header === 'string') return header;
  return /^Bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

function stored({ name, key }: ApiKey): StoredKey {
  return { name, digest: digest(key) };
}

/** Digests have one length, so comparing them says nothing about the key's. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

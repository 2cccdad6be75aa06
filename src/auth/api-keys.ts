import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../streams/core/index.js';

/** A named key; its name stands for the caller in the facts it causes. */
export interface ApiKey {
  name: string;
  key: string;
}

/** Keys shorter than this can be guessed. */
export const minKeyLength = 32;

/** Decides who may use the routes that change something or show private things. */
export class ApiKeys {
  readonly #keys: { name: string; digest: Buffer }[];

  constructor(keys: ApiKey[]) {
    this.#keys = keys.map(({ name, key }) => ({ name, digest: digest(key) }));
  }

  /** Name of the key that the request carries; `undefined` without one, a 401 with a wrong one. */
  identify(request: FastifyRequest): string | undefined {
    const given = credential(request);
    if (given === undefined) return undefined;
    const wanted = digest(given);
    let found: string | undefined;
    // all are compared, so that the time does not tell how many there are before the right one
    for (const { name, digest: known } of this.#keys) if (timingSafeEqual(known, wanted)) found = name;
    if (found === undefined) throw new Refusal('api_key_invalid', 401, 'This API key is not known');
    return found;
  }

  /** The caller's name. Throws 401 without a valid key; without any configured keys, 403 unless the caller is local. */
  require(request: FastifyRequest): string {
    if (this.#keys.length === 0) {
      if (isLocalCaller(request)) return 'local';
      throw new Refusal('api_keys_not_configured', 403, 'This route answers local callers only', {
        hint: 'The operator can open it to others by setting API_KEYS',
      });
    }
    const name = this.identify(request);
    if (name === undefined) {
      throw new Refusal('api_key_required', 401, 'This route needs an API key', {
        hint: 'Send it as X-Api-Key, X-Mcp-Api-Key or Authorization: Bearer',
      });
    }
    return name;
  }

  /** Like `require`, but a local caller needs no key: for what says nothing of anybody. */
  requireUnlessLocal(request: FastifyRequest): string {
    return credential(request) === undefined && isLocalCaller(request) ? 'local' : this.require(request);
  }
}

/**
 * Whether a request comes from somebody at this machine. A browser there speaks for any web page it shows, and a
 * proxy there for the whole world: neither is somebody at this machine.
 */
function isLocalCaller(request: FastifyRequest): boolean {
  const { origin, host, forwarded, via } = request.headers;
  if (!isLoopback(request.ip)) return false;
  if (forwarded || via || request.headers['x-forwarded-for'] || request.headers['x-real-ip']) return false;
  return isLocalHost(host ?? '') && (origin === undefined || isLocalHost(origin.replace(/^https?:\/\//, '')));
}

function isLocalHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(host);
}

/** Whether an address is this machine's own. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

function credential(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'] ?? request.headers['x-mcp-api-key'];
  if (typeof header === 'string') return header;
  return /^Bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Digests have one length, so comparing them says nothing about the key's. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

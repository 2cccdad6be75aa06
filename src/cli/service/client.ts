import { resolve } from 'node:path';
import { boundedFetch } from '../../../workers/core/fetch.js';
import type { About } from '../../app/about.js';
import type { paths } from '../../client/api.js';
import { createClient, type RelayClient } from '../../client/client.js';
import type { Config } from '../../config/config.js';
import { storedOperatorKey } from '../../servers/secrets.js';
import { type Invocation, text as textOption } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';

/** What the service answers to a question. */
export type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

/** What came back for a request. */
export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Options of every command that asks the running service. */
export const serviceOptions = {
  url: textOption('URL', 'where the service is (default: HOST and PORT of the configuration)'),
  key: textOption(
    'KEY',
    'API key (default: RELAY_API_KEY, else the first one of API_KEYS, or that of DATA_DIR)',
  ),
};

/** How long the service may take for one answer, in milliseconds. */
const patienceMs = 30_000;

/** The running service, seen from outside. */
export class ServiceClient {
  readonly url: string;
  /** The same through the typed client, which throws `RelayError` for error answers. */
  readonly api: RelayClient;
  readonly #key: string | undefined;
  readonly #stop: AbortSignal;
  readonly #timeoutMs: number;

  constructor(options: { url: string; key?: string | undefined; stop: AbortSignal; timeoutMs?: number }) {
    this.url = options.url.replace(/\/+$/, '');
    this.#key = options.key || undefined;
    this.#stop = options.stop;
    this.#timeoutMs = options.timeoutMs ?? patienceMs;
    this.api = createClient({
      baseUrl: this.url,
      apiKey: this.#key,
      fetch: async (request) => {
        const response = await this.#fetch(request);
        this.#read(response, await response.clone().text());
        return response;
      },
    });
  }

  /** Sends text unchanged and answers whatever comes back. Throws `Failed` if nothing does. */
  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    text?: string,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await this.#fetch(this.url + path, {
      method,
      redirect: 'error',
      headers: {
        ...(this.#key ? { 'x-api-key': this.#key } : {}),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const body = this.#read(response, await response.text());
    return { status: response.status, headers: response.headers, body };
  }

  /** The JSON of an answer. Throws `Failed` where the service did not give it. */
  #read({ status }: Response, content: string): unknown {
    try {
      return JSON.parse(content);
    } catch {
      throw new Failed(`${this.url} answers, but not as this service does (${status})`, 'not_the_service');
    }
  }

  /** The lines of a channel after one of them, for as long as the command runs; reconnects by itself. */
  watch(
    channel: string,
    { after, signal }: { after: string; signal: AbortSignal },
  ): AsyncIterable<{ id: string }> {
    const client = createClient({ baseUrl: this.url, apiKey: this.#key });
    return client.watch(channel, { after, signal: AbortSignal.any([signal, this.#stop]) });
  }

  /** The whole answer: an error while it is read has the same text. */
  async #fetch(input: string | Request, init: RequestInit = {}): Promise<Response> {
    try {
      const bounds = { timeoutMs: this.#timeoutMs };
      const response = await boundedFetch(input, { ...init, signal: this.#stop }, bounds);
      return response.body ? new Response(await response.arrayBuffer(), response) : response;
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): Failed {
    if (this.#stop.aborted) return new Failed('interrupted', 'interrupted');
    const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
    if (cause?.code === 'ECONNREFUSED') {
      return new Failed(
        `nothing listens on ${this.url}`,
        'service_not_running',
        'Start the service with "relay start" (or npm start), or say where it is with --url.',
      );
    }
    if (name === 'TimeoutError')
      return new Failed(`${this.url} did not answer within ${this.#timeoutMs / 1_000} s`, 'service_silent');
    if (cause?.message === 'bad port')
      return new Failed(
        `browsers and Node.js refuse to call ${this.url}: the fetch standard blocks its port`,
        'port_blocked',
        'Let the service listen on another port: set PORT.',
      );
    return new Failed(
      `${this.url} cannot be reached: ${cause?.message || cause?.code || String(error)}`,
      'service_unreachable',
    );
  }
}

/**
 * The service at the address from the options and the configuration. Throws `UsageError` for an invalid
 * address.
 */
export function serviceOf(
  { config: read, stop }: Pick<Invocation, 'config' | 'stop'>,
  options: { url?: string | undefined; key?: string | undefined } = {},
): ServiceClient {
  const config = read();
  const url = options.url ?? configuredUrl(config);
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new UsageError('--url must be an address such as http://127.0.0.1:8100');
  }
  const key =
    options.key ??
    (config.RELAY_API_KEY || config.API_KEYS[0]?.key || storedOperatorKey(resolve(config.DATA_DIR)));
  return new ServiceClient({ url, key, stop });
}

/** Asks a running service about itself, which needs an API key. */
export async function askAbout(service: ServiceClient): Promise<About> {
  return await service.api.get('/ops/service');
}

/**
 * The address where the service listens, from the configuration. Throws `UsageError` if it cannot be told.
 */
export function configuredUrl({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): string {
  if (PORT === 0)
    throw new UsageError('PORT is 0, so the service chose a port by itself: say where it is with --url');
  const everywhere = HOST === '' || HOST === '0.0.0.0' || HOST === '::';
  const host = everywhere ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${PORT}`;
}

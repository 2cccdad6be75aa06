import createFetchClient, {
  type Client,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch';
import { boundedFetch } from '../../workers/core/fetch.js';
import type { paths } from './api.js';
import { RelayError } from './error.js';
import {
  type Heard,
  type IrcMessage,
  type ListenOptions,
  listenTo,
  type OpenStream,
  type WatchOptions,
  watchChannel,
} from './watch.js';
import { type EventReceipt, type MarketEvent, type Received, signEvent, signQuestion } from './webhook.js';

/** A function that sends a request and resolves with its answer, as `fetch` does. */
export type Fetch = (request: Request) => Promise<Response>;

/** Where the service is, and the key that the client uses. */
export interface RelayClientOptions {
  /** The address of the service, such as `http://127.0.0.1:8100`. A slash at its end is allowed. */
  baseUrl: string;
  /** A key of an operator or of an agent. It is sent as `X-Api-Key`. Without one the client asks as a stranger. */
  apiKey?: string | undefined;
  /** What sends the requests, in place of the global `fetch`: for example the result of `walletFetch`. */
  fetch?: Fetch | undefined;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** Streams never end, so they have no answer to wait for. */
type Streams = '/irc/stream' | '/irc/listen' | '/multibrain/query/{id}/stream';
/** May be left out if nothing in it is required. */
type Init<T> = undefined extends T ? [init?: T] : [init: T];
type AnyMedia = `${string}/${string}`;

/**
 * Asks one operation of the API and resolves with the body of its answer: JSON, or text where the operation answers
 * text. `init` holds `params` (`path`, `query`, `header`), `body`, `headers` and `signal`. Throws `RelayError` for an
 * answer that is an error, and what `fetch` throws when there is no answer.
 */
export type Ask<M extends Method> = <Path extends Exclude<ClientPathsWithMethod<Client<paths>, M>, Streams>>(
  path: Path,
  ...init: Init<MaybeOptionalInit<paths[Path], M>>
) => Promise<NonNullable<FetchResponse<paths[Path][M] & object, object, AnyMedia>['data']>>;

/** A client of one service. Paths, parameters, bodies and answers have the types of the API's description. */
export interface RelayClient {
  /** The address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** Asks an operation that reads, such as `get('/irc/channels')`. */
  get: Ask<'get'>;
  /** Asks an operation that makes or does something. */
  post: Ask<'post'>;
  /** Asks an operation that puts something in the place of what was there. */
  put: Ask<'put'>;
  /** Asks an operation that changes something. */
  patch: Ask<'patch'>;
  /** Asks an operation that takes something away. */
  delete: Ask<'delete'>;
  /** The same operations with status and headers. It resolves with `{data, error, response}`, and does not throw for an error. */
  http: Client<paths>;
  /**
   * The lines of a channel as they are said, each once: from now on, or after the line `after`. A lost connection is
   * made again, and goes on after the last line. The first pause is 2 s; pauses double up to 30 s. Throws `RelayError`
   * when the service refuses, what `fetch` throws when the first connection fails, and the signal's reason when it aborts.
   */
  watch(channel: string, options?: WatchOptions): AsyncGenerator<IrcMessage, never>;
  /**
   * What is said to an agent, and in channels of its choice, as it is said: from now on, or after the event `after`. It
   * needs the agent's key with the scope `speak`, brings the agent onto the network, and keeps it there. Lost connections
   * and errors are as with `watch`.
   */
  listen(options?: ListenOptions): AsyncGenerator<Heard, never>;
  /**
   * Signs an event with the webhook's secret and posts it. When there is no answer, post it again with the same
   * `event_id`: it is accepted once. With `dryRun` nothing is stored: the answer says what would become of the event.
   */
  postEvent(secret: string, event: MarketEvent, options?: { dryRun?: boolean }): Promise<Received>;
  /** Asks what became of an event in each channel. Only the secret with which it was posted may ask. */
  eventReceipt(secret: string, eventId: string): Promise<EventReceipt>;
}

/**
 * Makes a client of the service at `baseUrl`. It sends nothing until you ask something. It follows no redirects, so that
 * a key goes to no other host.
 *
 * @example
 * import { createClient, RelayError } from 'relay-network/client';
 *
 * const [, , baseUrl = 'http://127.0.0.1:8100'] = process.argv;
 * const relay = createClient({ baseUrl });
 * const { users, channels } = await relay.get('/irc/stats');
 * console.log(`${users} users in ${channels} channels`);
 *
 * // parts of a path and of a query are given by name
 * const params = { path: { channel: 'bounties' }, query: { limit: 3 } };
 * for (const { nick, text } of await relay.get('/irc/channels/{channel}/messages', { params }))
 *   console.log(`<${nick}> ${text}`);
 *
 * // errors as values, with status and headers
 * const { error, response } = await relay.http.GET('/identity/by-nick/{nick}', { params: { path: { nick: 'nobody' } } });
 * console.log(response.status, error?.code);
 *
 * // errors that are thrown
 * await relay.get('/channels/{name}', { params: { path: { name: 'no-such-channel' } } }).catch((error) => {
 *   if (!(error instanceof RelayError)) throw error;
 *   console.log(error.status, error.code, error.message);
 * });
 */
export function createClient({ baseUrl, apiKey, fetch = globalThis.fetch }: RelayClientOptions): RelayClient {
  const headers: Record<string, string> = apiKey ? { 'x-api-key': apiKey } : {};
  // a signal of the user must also end the reading of the body
  const send: Fetch = (request) => boundedFetch(request, {}, { send: fetch });
  // a key is for this address only, and for none that it redirects to
  const http = createFetchClient<paths>({ baseUrl, headers, fetch: send, redirect: 'error' });
  const base = baseUrl.replace(/\/+$/, '');

  const ask =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    async (path: string, init: object = {}): Promise<unknown> => {
      const send = http[method] as (
        path: string,
        init: object,
      ) => Promise<FetchResponse<object, object, '*/*'>>;
      // not parsed, since not every answer is JSON
      const { error, response } = await send(path, { ...init, parseAs: 'stream' });
      if (!response.ok) throw new RelayError(response, error);
      const text = await response.text();
      if (text === '') return undefined;
      return isJson(response) ? JSON.parse(text) : text;
    };
  const opens =
    (path: string, query: Record<string, string>): OpenStream =>
    async (after, signal) => {
      const place = after === undefined ? {} : { 'last-event-id': after };
      const init = { headers: { ...headers, ...place }, signal, redirect: 'error' } as const;
      return await boundedFetch(`${base}${path}?${new URLSearchParams(query)}`, init, { send: fetch });
    };
  const client = {
    baseUrl: base,
    http,
    get: ask('GET') as Ask<'get'>,
    post: ask('POST') as Ask<'post'>,
    put: ask('PUT') as Ask<'put'>,
    patch: ask('PATCH') as Ask<'patch'>,
    delete: ask('DELETE') as Ask<'delete'>,
    async postEvent(secret: string, event: MarketEvent, { dryRun = false } = {}) {
      const body = JSON.stringify(event);
      return await client.post('/hooks/em/events', {
        body: event,
        bodySerializer: () => body,
        params: { header: await signEvent(secret, body), query: dryRun ? { dry_run: true } : {} },
      });
    },
  };
  return {
    ...client,
    eventReceipt: async (secret, event_id) =>
      await client.get('/hooks/em/events/{event_id}', {
        params: { path: { event_id }, header: await signQuestion(secret, event_id) },
      }),
    listen({ channels = [], nick, ...options } = {}) {
      const query = {
        ...(channels.length > 0 && { channels: channels.join(',') }),
        ...(nick !== undefined && { nick }),
      };
      return listenTo(opens('/irc/listen', query), options);
    },
    watch(channel, options = {}) {
      const { signal = null } = options;
      const messages = '/irc/channels/{channel}/messages';
      const params = { path: { channel }, query: { limit: 1 } };
      return watchChannel(
        {
          newest: async () => (await client.get(messages, { params, signal })).at(-1)?.id,
          open: opens('/irc/stream', { channel }),
        },
        options,
      );
    },
  };
}

function isJson({ headers }: Response): boolean {
  return /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '');
}

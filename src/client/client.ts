import createFetchClient, {
  type Client,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch';
import { boundedFetch } from '../../workers/core/fetch.js';
import type { paths } from './api.js';
import { RelayError } from './error.js';
import { type IrcMessage, type WatchOptions, watchChannel } from './watch.js';
import { type EventReceipt, type MarketEvent, type Received, signEvent, signQuestion } from './webhook.js';

/** Sends a request: `fetch`, or something around it. */
export type Fetch = (request: Request) => Promise<Response>;

/** Where the service is, and who asks. */
export interface RelayClientOptions {
  /** Such as `http://127.0.0.1:8100`. */
  baseUrl: string;
  /** Key that the operator has given out; sent as `X-Api-Key`. */
  apiKey?: string | undefined;
  /** In place of the global `fetch`, such as `walletFetch`. */
  fetch?: Fetch | undefined;
}

type Method = 'get' | 'post' | 'patch' | 'delete';
/** What never ends is no answer to wait for. */
type Streams = '/irc/stream' | '/multibrain/query/{id}/stream';
/** May be left out where nothing in it is needed. */
type Init<T> = undefined extends T ? [init?: T] : [init: T];
type AnyMedia = `${string}/${string}`;

/**
 * Asks one operation and resolves with the body of its answer: JSON, or text where the operation answers text.
 * Parameters, body, headers and signal are in `init`. Throws `RelayError` for an answer that is an error, and whatever
 * `fetch` throws when there is none.
 */
export type Ask<M extends Method> = <Path extends Exclude<ClientPathsWithMethod<Client<paths>, M>, Streams>>(
  path: Path,
  ...init: Init<MaybeOptionalInit<paths[Path], M>>
) => Promise<NonNullable<FetchResponse<paths[Path][M] & object, object, AnyMedia>['data']>>;

/** The API of a Relay Network, typed as it describes itself. */
export interface RelayClient {
  readonly baseUrl: string;
  get: Ask<'get'>;
  post: Ask<'post'>;
  patch: Ask<'patch'>;
  delete: Ask<'delete'>;
  /** The same operations with status and headers: errors are values here (`{data, error, response}`). */
  http: Client<paths>;
  /**
   * The lines of a channel from now on, or behind the line `after`; goes on where it was after a lost connection.
   * Throws `RelayError` when the service refuses, what `fetch` throws when the first connection fails, and the
   * signal's reason when that aborts.
   */
  watch(channel: string, options?: WatchOptions): AsyncGenerator<IrcMessage, never>;
  /**
   * Signs a marketplace event and posts it. What was not answered may be repeated with the same `event_id`. `dryRun`: only
   * asks what would become of it.
   */
  postEvent(secret: string, event: MarketEvent, options?: { dryRun?: boolean }): Promise<Received>;
  /** What became of an event that was posted with this secret. */
  eventReceipt(secret: string, eventId: string): Promise<EventReceipt>;
}

/** A client of the service at `baseUrl`. Nothing is sent before something is asked. */
export function createClient({ baseUrl, apiKey, fetch = globalThis.fetch }: RelayClientOptions): RelayClient {
  const headers: Record<string, string> = apiKey ? { 'x-api-key': apiKey } : {};
  // a signal that the user gives is to end what is read too
  const send: Fetch = (request) => boundedFetch(request, {}, { send: fetch });
  // a key is for this address, and for none that it may lead to
  const http = createFetchClient<paths>({ baseUrl, headers, fetch: send, redirect: 'error' });
  const base = baseUrl.replace(/\/+$/, '');

  const ask =
    (method: 'GET' | 'POST' | 'PATCH' | 'DELETE') =>
    async (path: string, init: object = {}): Promise<unknown> => {
      const send = http[method] as (
        path: string,
        init: object,
      ) => Promise<FetchResponse<object, object, '*/*'>>;
      // left unread, for not every answer is JSON
      const { error, response } = await send(path, { ...init, parseAs: 'stream' });
      if (!response.ok) throw new RelayError(response, error);
      const text = await response.text();
      if (text === '') return undefined;
      return isJson(response) ? JSON.parse(text) : text;
    };
  const client = {
    baseUrl: base,
    http,
    get: ask('GET') as Ask<'get'>,
    post: ask('POST') as Ask<'post'>,
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
    watch(channel, options = {}) {
      const { signal = null } = options;
      const messages = '/irc/channels/{channel}/messages';
      const params = { path: { channel }, query: { limit: 1 } };
      return watchChannel(
        {
          newest: async () => (await client.get(messages, { params, signal })).at(-1)?.id,
          open: async (after, signal) => {
            const init = {
              headers: { ...headers, 'last-event-id': after },
              signal,
              redirect: 'error',
            } as const;
            const address = `${base}/irc/stream?${new URLSearchParams({ channel })}`;
            return await boundedFetch(address, init, { send: fetch });
          },
        },
        options,
      );
    },
  };
}

function isJson({ headers }: Response): boolean {
  return /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '');
}

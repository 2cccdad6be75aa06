import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import type { operations } from './api.js';
import { RelayError } from './error.js';

/** A line of a channel, with its id, nick, text and time. */
export type IrcMessage =
  operations['listIrcMessages']['responses'][200]['content']['application/json'][number];
/** A message of an agent's inbox. */
export type InboxMessage =
  operations['listInbox']['responses'][200]['content']['application/json']['messages'][number];

/** Where an agent is on the network. */
export interface ConnectionState {
  /** Null if it is not known now. */
  connected: boolean | null;
  /** Its nick there. */
  nick: string;
  /** The channels where it is. */
  channels: string[];
  /** The code of the refusal, where it is known why the agent is not connected. */
  code?: string;
  /** The same in words. */
  error?: string;
}

/** What an agent hears. The `id` is where to go on after it. */
export type Heard =
  | { id: string; event: 'message'; data: InboxMessage }
  | { id: string; event: 'line'; data: IrcMessage }
  | { id: string; event: 'connection'; data: ConnectionState };

/** Where watching a channel begins, and when it ends. */
export interface WatchOptions {
  /** The id of the last line that you know: the lines after it come first. `0-0` is before every line. */
  after?: string | undefined;
  /** Ends the watching, and the connection, when it aborts. */
  signal?: AbortSignal | undefined;
}

/** What an agent listens to besides its inbox, where it begins, and when it ends. */
export interface ListenOptions extends WatchOptions {
  /** Names of channels, 20 at most. */
  channels?: readonly string[] | undefined;
  /** The nick of the agent whose inbox it is. Only operators give it; an agent hears its own. */
  nick?: string | undefined;
}

/** Opens a stream of events after one of them, or from now on. */
export type OpenStream = (after: string | undefined, signal: AbortSignal) => Promise<Response>;

/** The two requests that watching makes. */
export interface WatchedService {
  /** Id of the newest line of the channel; `undefined` if nothing was said yet. */
  newest(): Promise<string | undefined>;
  /** Opens the stream of the channel after a line. */
  open: OpenStream;
}

/** Comes before every line. */
const beginning = '0-0';
const longestWaitMs = 30_000;
const longestSilenceMs = 45_000;

/** The lines of a channel, over lost connections. */
export async function* watchChannel(
  { newest, open }: WatchedService,
  { after, signal }: WatchOptions,
  silenceMs?: number,
): AsyncGenerator<IrcMessage, never> {
  // without a position to return to, lines during a loss of the first connection would be missed
  const last = after ?? (await newest()) ?? beginning;
  for await (const { data } of follow(open, { after: last, signal }, silenceMs)) yield JSON.parse(data);
  throw new Error('the stream has an end');
}

/** What an agent hears, over lost connections. The first event says where the agent is, so its place is known at once. */
export async function* listenTo(
  open: OpenStream,
  options: WatchOptions,
  silenceMs?: number,
): AsyncGenerator<Heard, never> {
  for await (const { id, event, data } of follow(open, options, silenceMs))
    yield { id, event, data: JSON.parse(data) } as Heard;
  throw new Error('the stream has an end');
}

/** The type of the event after which a stream ends, because more was missed than comes on one connection. */
const moreEvent = 'more';

/**
 * The events of a stream. It reconnects after each loss of the connection, and continues after the last event
 * that it had; at once where the service says that there is more. The service sends something every 15 seconds,
 * if only a sign of life. A connection that is silent for `silenceMs`, also before its answer, is lost.
 */
async function* follow(
  open: OpenStream,
  { after, signal = new AbortController().signal }: WatchOptions,
  silenceMs = longestSilenceMs,
): AsyncGenerator<EventSourceMessage & { id: string }, never> {
  let last = after;
  let isKnown = false;
  let retryMs = 2_000;
  for (let failures = 0; ; failures += 1) {
    const connection = new AbortController();
    let waitMs = 0;
    let hasMore = false;
    try {
      const noAnswer = () => connection.abort(new Error('the service does not answer'));
      const timer = setTimeout(noAnswer, silenceMs);
      const response = await open(last, AbortSignal.any([signal, connection.signal])).finally(() =>
        clearTimeout(timer),
      );
      if (!response.ok) throw new RelayError(response, await bodyOf(response));
      isKnown = true;
      failures = 0;
      const setRetry = (ms: number) => {
        retryMs = ms;
      };
      for await (const { id, event, data } of eventsOf(response, connection, silenceMs, setRetry)) {
        if (id === undefined) continue;
        last = id;
        hasMore = event === moreEvent;
        if (!hasMore) yield { id, event, data };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isKnown || (error instanceof RelayError && !mayPass(error))) throw error;
      if (error instanceof RelayError) waitMs = (error.retryAfter ?? 0) * 1_000;
    } finally {
      connection.abort();
    }
    if (hasMore) continue;
    const backOff = Math.min(longestWaitMs, retryMs * 2 ** failures);
    await pause(Math.max(waitMs, backOff), signal);
  }
}

/** What the service sends, until it ends the stream. A connection that is silent for too long is aborted. */
function eventsOf(
  { body }: Response,
  connection: AbortController,
  silenceMs: number,
  onRetry: (ms: number) => void,
): AsyncIterable<EventSourceMessage> {
  if (!body) throw new Error('the service answered without a stream');
  const silent = () => connection.abort(new Error('the stream is silent'));
  let timer = setTimeout(silent, silenceMs);
  connection.signal.addEventListener('abort', () => clearTimeout(timer));
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer);
      timer = setTimeout(silent, silenceMs);
      controller.enqueue(chunk);
    },
  });
  return body
    .pipeThrough(heard, { signal: connection.signal })
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onRetry }));
}

/** Whether the same request may succeed later. */
function mayPass({ status }: RelayError): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** JSON, or the text of a body that is not JSON. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { Unavailable } from '../../streams/core/index.js';
import type { ApiKeys } from '../auth/api-keys.js';
import type { Description } from '../openapi/description.js';
import { bindingOf, collect } from '../operations/core/binding.js';
import type { Caller } from '../operations/core/caller.js';
import { parseInput } from '../operations/core/validation.js';
import { lastEventId } from './last-event-id.js';

/** One server-sent event. */
export interface ServerEvent {
  id: string;
  /** Its type; none for a plain message. */
  event?: string;
  data: unknown;
}

/** What a stream is opened with, beside its input. */
export interface Viewer {
  caller: Caller;
  /** Id of the last event that the reader has. */
  after: string | undefined;
  /** Aborted when the reader is gone. */
  signal: AbortSignal;
  /** After so long without an event the stream yields `undefined`, in milliseconds. */
  quietMs: number;
  /** Ends the stream from this side, also while a read of it waits. */
  end(): void;
}

/** A stream of events over HTTP: an operation whose answer does not end by itself. */
export interface EventStream<In extends z.ZodObject = z.ZodObject> {
  description: Description;
  input: In;
  /** Whether a text is the id of an event of this stream. */
  isEventId(text: string): boolean;
  /** So many readers one process has at most. */
  most: number;
  /**
   * Opens it; `undefined` in it is silence. Throws what refuses the reader. Gives nothing where no event will ever come
   * after the last one that the reader has.
   */
  open(input: z.output<In>, viewer: Viewer): Promise<AsyncIterable<ServerEvent | undefined> | undefined>;
  /** Told how many readers come (1) and go (-1). */
  viewers?(change: 1 | -1): void;
  /** Ends all readers, before the server is closed. */
  close(): void;
}

const keepAliveMs = 15_000;
const retry = 'retry: 2000\n\n';

/** The route of a stream: bounded in readers, kept alive by comments, and resumed where its reader was. */
export async function streamRoute(
  app: FastifyInstance,
  { stream, keys }: { stream: EventStream; keys: ApiKeys },
): Promise<void> {
  const { description, input: schema, isEventId, most } = stream;
  const place = { method: 'get' as const, path: description.path, without: ['after'] };
  const binding = bindingOf(schema, place);
  let readers = 0;

  app.get(
    description.path.replace(/\{(\w+)\}/g, ':$1'),
    { exposeHeadRoute: false },
    async (request, reply) => {
      const caller = keys.callerOf(request);
      const input = parseInput(schema, collect(schema, binding, request));
      const after = lastEventId(request, isEventId);
      if (readers >= most) throw new Unavailable('too_many_viewers');
      const stopped = new AbortController();
      let body: Readable | undefined;
      // from the first moment: a reader may go while the stream is opened
      readers += 1;
      reply.raw.once('close', () => {
        readers -= 1;
        if (body) stream.viewers?.(-1);
        stopped.abort();
      });
      const end = () => {
        stopped.abort();
        body?.destroy();
      };
      const events = await stream.open(input, {
        caller,
        after,
        signal: stopped.signal,
        quietMs: keepAliveMs,
        end,
      });
      // the standard's word for "do not come back"
      if (!events || stopped.signal.aborted) return reply.code(204).send();
      body = Readable.from(textsOf(events), { objectMode: false });
      stream.viewers?.(1);
      return reply
        .headers({
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
        })
        .send(body);
    },
  );
  // the server waits for open streams when it is closed
  app.addHook('preClose', async () => stream.close());
}

/** Events as they are written on the wire; silence as comments, so that nobody on the way takes it for the end. */
async function* textsOf(events: AsyncIterable<ServerEvent | undefined>): AsyncGenerator<string> {
  yield retry;
  for await (const one of events) {
    if (!one) yield ': still here\n\n';
    else
      yield `id: ${one.id}\n${one.event ? `event: ${one.event}\n` : ''}data: ${JSON.stringify(one.data)}\n\n`;
  }
}

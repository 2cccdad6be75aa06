import type { z } from 'zod';
import type { Refusals, Tag } from './description.js';
import type { Caller } from './operation.js';
import type { Needed } from './rights.js';

/** One server-sent event. */
export interface ServerEvent {
  id: string;
  /** Its type; none for a plain message. */
  event?: string;
  data: unknown;
}

/**
 * The type of the event by which a stream says that it ends here, because its reader has missed more than comes on one
 * connection. The reader may come back with the id of the event.
 */
export const moreEvent = 'more';

/** Who reads a stream, and from where on. */
export interface Viewer {
  caller: Caller;
  /** Whose turns at costly reads are counted; nobody's if left out. */
  reader?: string | undefined;
  /** Id of the last event that the reader has. */
  after: string | undefined;
  /** Aborted when the reader is gone. */
  signal: AbortSignal;
  /** After so long without an event the stream yields `undefined`, in milliseconds. */
  quietMs: number;
  /** Ends the stream from this side, also while a read of it waits. */
  end(): void;
}

/** A stream of server-sent events: an operation whose answer does not end by itself. */
export interface EventStream<Parts = unknown, In extends z.ZodObject = z.ZodObject> {
  /** Unique; `operationId` in the description of the API. */
  id: string;
  /** With the members of the input that are in it, in braces. */
  path: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Who may read it; `moreWithKey` by default. */
  access?: Needed;
  /** The schema of its parameters. It includes `after`, which is in the query too. */
  input: In;
  /** What its answer is, in words, and the beginning of one. */
  says: string;
  example: string;
  /** What it says, in words, that nothing will come after the last event of the reader; for streams that have an end. */
  nothingMore?: string;
  refusals: Refusals;
  /** Whether a text is the id of an event of this stream. */
  isEventId(text: string): boolean;
  /** So many readers one process has at most. */
  most: number;
  /** So many of them for one address, or for one agent with a key; other callers on this machine are not counted. */
  ofOneReader: number;
  /**
   * Opens it; `undefined` in it is silence. Throws what refuses the reader. Gives nothing where no event will ever come
   * after the last one that the reader has.
   */
  open(
    input: z.output<In>,
    viewer: Viewer,
    parts: Parts,
  ): Promise<AsyncIterable<ServerEvent | undefined> | undefined>;
  /** Told when a reader comes (1) and goes (-1). */
  viewers?(change: 1 | -1, parts: Parts): void;
  /** Ends all readers, before the server is closed. */
  close(parts: Parts): void;
}

// biome-ignore lint/suspicious/noExplicitAny: what holds streams of all kinds cannot name their types
export type AnyEventStream = EventStream<any, any>;

/** Gives an event stream the types of its input and its parts. */
export function defineEventStream<Parts, In extends z.ZodObject>(
  stream: EventStream<Parts, In>,
): EventStream<Parts, In> {
  return stream;
}

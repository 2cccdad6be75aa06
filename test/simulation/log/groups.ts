import type { ApiError, StoredStream, Taken } from './stored-stream.js';
import { headersOf, textOf, type WireMessage } from './wire.js';

/** The index in a group, from the headers of a message. */
interface Place {
  group: string;
  sequence: number;
  commits: boolean;
}

/** What became of a group; its answer says so, too. */
export type TakenGroup = (Taken & { batch?: string; count?: number }) | ApiError;

const named = /^Nats-Batch-(Id|Sequence|Commit): *(.*)$/gm;
/** How long an incomplete group is kept, in milliseconds. */
const keptMs = 10_000;

const isDisabled = { code: 400, err_code: 10174, description: 'atomic publish is disabled' };
const isIncomplete = { code: 400, err_code: 10176, description: 'atomic publish batch is incomplete' };

/** Messages of one stream that will be stored together, until the last one has come. */
export class Groups {
  readonly #stream: StoredStream;
  readonly #now: () => number;
  readonly #waiting = new Map<string, { messages: WireMessage[]; at: number }>();

  constructor(stream: StoredStream, now: () => number) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Takes a message at its index; `undefined` if there is no answer yet. */
  take(message: WireMessage, place: Place, refusal?: ApiError): TakenGroup | undefined {
    if (!this.#stream.config.allow_atomic) return isDisabled;
    const { group, sequence, commits } = place;
    for (const [id, { at }] of this.#waiting) if (this.#now() - at > keptMs) this.#waiting.delete(id);
    if (sequence === 1) this.#waiting.set(group, { messages: [], at: this.#now() });
    const messages = this.#waiting.get(group)?.messages;
    if (messages?.length !== sequence - 1) {
      this.#waiting.delete(group);
      return isIncomplete;
    }
    messages.push(message);
    if (!commits) return undefined;
    this.#waiting.delete(group);
    const taken = this.#stream.takeAll(messages, refusal);
    return 'err_code' in taken ? taken : { ...taken, batch: group, count: messages.length };
  }
}

/** The index of a message in its group; `undefined` for a single message. */
export function placeInGroup({ headers }: WireMessage): Place | undefined {
  if (!headers) return undefined;
  const text = headers instanceof Uint8Array ? textOf(headers) : String(headersOf(headers));
  const found = new Map([...text.matchAll(named)].map(([, name, value]) => [name, value!.trim()]));
  const group = found.get('Id');
  return group === undefined
    ? undefined
    : { group, sequence: Number(found.get('Sequence')), commits: found.has('Commit') };
}

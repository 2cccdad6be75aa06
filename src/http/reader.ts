import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKeys } from '../auth/api-keys.js';
import { callerAddress, isOnThisMachine } from '../auth/client-address.js';
import { bindingOf } from '../operations/core/binding.js';
import { inputOf } from '../operations/core/call.js';
import type { Caller } from '../operations/core/caller.js';
import type { AnyEventStream } from '../operations/core/event-stream.js';
import { moreWithKey, needsCredential, requireRight } from '../operations/core/rights.js';
import { type KeyEnds, keyEndOf } from './key-ends.js';
import { lastEventId } from './last-event-id.js';
import { collect, ignoredTeller } from './operations.js';

/** A request for a stream of events: who asks, for what, and which event they have. */
export interface Reader {
  caller: Caller;
  input: Record<string, unknown>;
  after: string | undefined;
  /** Whose places are counted: an agent's, wherever it comes from, and an address', but not those of this machine. */
  countedAs: string | undefined;
  /** Whether the key of the caller opens nothing any more; absent for a caller without a key. */
  keyHasEnded: (() => Promise<boolean>) | undefined;
}

/** Makes what finds the reader of a stream. It throws what refuses the request. */
export function readerOf(
  stream: AnyEventStream,
  { keys, isEnded }: KeyEnds & { keys: ApiKeys },
): (request: FastifyRequest, reply: FastifyReply) => Promise<Reader> {
  const { path, input: schema, access = moreWithKey } = stream;
  const binding = bindingOf(schema, { method: 'get', path, without: ['after'] });
  const isKeyed = needsCredential(access);
  const tellIgnored = ignoredTeller(binding);
  return async (request, reply) => {
    tellIgnored(request, reply);
    const caller = isKeyed ? await keys.requireCaller(request, reply) : await keys.callerOf(request, reply);
    requireRight(access, caller);
    const input = inputOf({ input: schema, access }, collect(binding, request), caller);
    requireRight(access, caller, input);
    return {
      caller,
      input,
      after: lastEventId(request, stream.isEventId),
      countedAs: countedAs(request, caller),
      keyHasEnded: keyEndOf({ keys, isEnded }, request, caller),
    };
  };
}

function countedAs(request: FastifyRequest, caller: Caller): string | undefined {
  if (caller.is === 'agent') return `agent ${caller.nick}`;
  return isOnThisMachine(request) ? undefined : callerAddress(request);
}

import type { Caller } from './caller.js';
import type { AnyOperation, Call, ServiceName } from './operation.js';

/** A call of an operation as it ended. */
export interface EndedCall {
  operation: string;
  seconds: number;
  /** How it ended: `ok`, the code of its refusal, or `internal_error`. */
  outcome: string;
}

/** What calls are made with. */
export interface CallOptions {
  /** What the operations of this process work with. */
  parts: unknown;
  /** Asks the service that an operation belongs to, where that runs elsewhere; `undefined` for those that run here. */
  remote(
    service: ServiceName,
  ): ((operation: AnyOperation, input: unknown, caller: Caller) => Promise<unknown>) | undefined;
  /** Told of every call. */
  observe?(call: EndedCall): void;
}

/** Makes the way in which operations are called from within: a function call here, HTTP where their service is elsewhere. */
export function createCall({ parts, remote, observe }: CallOptions): Call {
  const call = async (operation: AnyOperation, input: unknown, caller: Caller): Promise<unknown> => {
    const elsewhere = operation.remote && remote(operation.remote.service);
    const startedAt = performance.now();
    let outcome = 'ok';
    try {
      return await (elsewhere ? elsewhere(operation, input, caller) : operation.run(input, caller, parts));
    } catch (error) {
      const { kind, code } = error as { kind?: unknown; code?: unknown };
      outcome = kind === undefined ? 'internal_error' : String(code);
      throw error;
    } finally {
      observe?.({ operation: operation.id, seconds: (performance.now() - startedAt) / 1_000, outcome });
    }
  };
  return call as Call;
}

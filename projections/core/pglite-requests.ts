import { storeUnavailable, type WireParam } from './sql.js';

/** The result of a statement: its rows, and the command that it turned out to be. */
export interface StatementResult {
  rows: Record<string, unknown>[];
  command: string;
}

/**
 * The result of a statement: its columns as PostgreSQL names them, and its rows with the values in that
 * order.
 */
export interface TableResult {
  columns: string[];
  rows: unknown[][];
}

/** A statement on its way to the thread of PGlite. */
export interface Request {
  id: number;
  text: string;
  params?: WireParam[] | undefined;
  /** As a table; otherwise as rows by the names of their columns. */
  asTable?: boolean;
}

/** What became of it. */
export type Reply =
  | { id: number; result: StatementResult | TableResult }
  | { id: number; error: { message: string; code?: string } };

/** Statements that are on their way to the thread of PGlite. */
export class Requests {
  readonly #send: (request: Request, transfer: ArrayBuffer[]) => void;
  readonly #waiting = new Map<
    number,
    { resolve(result: StatementResult | TableResult): void; reject(error: unknown): void }
  >();
  #next = 0;
  #ended: string | undefined;

  constructor(send: (request: Request, transfer: ArrayBuffer[]) => void) {
    this.#send = send;
  }

  /** How many have no answer yet. */
  get open(): number {
    return this.#waiting.size;
  }

  /** Why no more can be sent, if that is so. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Runs one statement, or several when there are no parameters. Rejects with the SQLSTATE in `code`. */
  ask(request: Omit<Request, 'id'>): Promise<StatementResult | TableResult> {
    if (this.#ended !== undefined) return Promise.reject(storeUnavailable(this.#ended));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const owned = request.params
        ?.filter((param) => param instanceof Uint8Array)
        .map(({ buffer }) => buffer as ArrayBuffer);
      this.#send({ id, ...request }, owned ?? []);
    });
  }

  receive(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('result' in reply) waiting?.resolve(reply.result);
    else waiting?.reject(Object.assign(new Error(reply.error.message), reply.error));
  }

  /** From now on none is sent; those before may still be answered. */
  close(reason: string): void {
    this.#ended ??= reason;
  }

  /** No answer comes any more: `Unavailable` for all that wait. */
  end(reason: string): void {
    this.close(reason);
    for (const { reject } of this.#waiting.values()) reject(storeUnavailable(this.#ended!));
    this.#waiting.clear();
  }
}

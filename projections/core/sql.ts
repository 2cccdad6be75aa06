import type { MessagePort } from 'node:worker_threads';
import { Unavailable } from '../../streams/core/index.js';

/**
 * The value of a parameter such as `$1`. JSON goes in as the text that `json` makes. A list becomes an SQL
 * array. Bytes are sent as they are.
 */
export type Param = Scalar | readonly Scalar[] | Uint8Array;
/** A single value of a parameter. */
export type Scalar = string | number | boolean | Date | null;
/** A parameter as both engines take it: text, or bytes in PostgreSQL's binary format. */
export type WireParam = string | Uint8Array | null;

/** Where statements run. Without parameters `text` may hold several statements; the last one's rows are returned. */
export interface Tx {
  query<R = Record<string, unknown>>(text: string, params?: readonly Param[]): Promise<R[]>;
}

/**
 * The read store. Values are the same on both engines: bigint is a number, timestamptz a `Date`, date and
 * numeric are strings, json and jsonb are parsed. Throws `Unavailable` when the store cannot be reached, else
 * an error whose `code` is the SQLSTATE.
 */
export interface Sql extends Tx {
  readonly engine: 'postgres' | 'pglite';
  /** How many times a connection was lost: the store may have crashed then, and have less than before. */
  readonly losses: number;
  /**
   * Commits when `work` returns and rolls back when it throws. Use only `tx` inside: the store itself would
   * wait for ever.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** How another thread opens the same store, with `openShared`; absent where it cannot. */
  share?(): SharedStore;
  close(): Promise<void>;
}

/** The way of another thread to a read store: the address of the server, or a port to the thread that has opened it. */
export type SharedStore = { databaseUrl: string } | { guest: MessagePort };

/**
 * The form of a parameter on the wire, the same for both engines, so that neither driver guesses. A list of
 * strings goes as a binary `text[]` (written `$1::text[]`, never another type). Quoting and parsing it as
 * text would be a third of the cost of folding a fact.
 */
export function wireParam(param: Param): WireParam {
  if (param instanceof Uint8Array) return param;
  if (!Array.isArray(param)) return wireText(param as Scalar);
  if (param.some((element) => typeof element === 'string')) return binaryTexts(param.map(wireText));
  return `{${param.map((element) => wireText(element) ?? 'null').join(',')}}`;
}

/**
 * JSON that PostgreSQL can parse. Its text cannot hold U+0000 or half of a surrogate pair, so these become
 * U+FFFD. The same happens to plain text parameters, so that stored values are found again.
 */
export function json(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u0000') && !text.includes('\\ud')) return text;
  return text.replace(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, (found) =>
    found.length > 2 ? '\\ufffd' : found,
  );
}

/** Turns the text of types that the drivers read differently into the same values, by type id. */
export const valueParsers: Record<number, (text: string) => unknown> = {
  20: Number, // bigint
  1082: (text) => text, // date
  1114: (text) => new Date(`${text.replace(' ', 'T')}Z`), // timestamp without time zone, taken as UTC
  1184: (text) => new Date(text), // timestamptz
  1700: (text) => text, // numeric
};

/** Whether an error's code is an SQLSTATE: all of these have a digit, system errors such as EPIPE have none. */
export function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

/** `Unavailable` when an error says that the store is away or overloaded, else the error itself. */
export function storeError(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (isSqlState(code) && !/^(08|53|57P|58|40|28|3D|55P03)/.test(code)) return error;
  return storeUnavailable(message ?? String(error), error);
}

/** The error of a store that cannot be used now. */
export function storeUnavailable(reason: string, cause?: unknown): Unavailable {
  const error = new Unavailable('store_unavailable', `The read store is not available: ${reason}`);
  if (cause !== undefined) error.cause = cause;
  return error;
}

/**
 * The statement that ends a transaction reports `ROLLBACK` when an earlier statement had failed unnoticed.
 */
export function assertCommitted(command: string): void {
  if (command !== 'COMMIT') throw new Error('A statement of the transaction had failed, nothing was stored');
}

function wireText(param: Scalar): string | null {
  if (param === null) return null;
  if (typeof param === 'string') return withoutNul(param);
  return param instanceof Date ? param.toISOString() : String(param);
}

const textOid = 25;

/** One dimension from 1 on, with nulls; the length comes before each element. */
function binaryTexts(texts: (string | null)[]): Uint8Array {
  const size = texts.reduce((sum, text) => sum + 4 + (text === null ? 0 : Buffer.byteLength(text)), 20);
  const bytes = Buffer.allocUnsafeSlow(size); // not pooled: the memory is handed to another thread
  [1, 1, textOid, texts.length, 1].forEach((number, index) => void bytes.writeInt32BE(number, index * 4));
  let offset = 20;
  for (const text of texts) {
    const length = text === null ? -1 : bytes.write(text, offset + 4);
    bytes.writeInt32BE(length, offset);
    offset += 4 + Math.max(0, length);
  }
  return bytes;
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

import { protocol } from '@electric-sql/pglite';
import { valueTypes } from '../../../projections/core/postgres.js';
import type { WireParam } from '../../../projections/core/sql.js';

/** What a statement gave. */
export interface EngineResult {
  rows: Record<string, unknown>[];
  command: string;
}

/** The engine's answer to everything that was sent together. */
export interface EngineReply {
  /** What the last statement gave. */
  result: EngineResult;
  /** The first error; what came after it was not done. */
  error: Error | undefined;
  /** How many statements were prepared. */
  prepared: number;
}

const { serialize } = protocol;
const decoder = new TextDecoder();

/** Statements without parameters, one or several. */
export function simple(text: string): Uint8Array[] {
  return [serialize.query(text)];
}

/** A statement with parameters: prepared under a name, unless it already is, and executed. */
export function extended(name: string, text: string | undefined, params: readonly WireParam[]): Uint8Array[] {
  return [
    ...(text === undefined ? [] : [serialize.parse({ name, text })]),
    serialize.bind({ statement: name, values: [...params] }),
    serialize.describe({ type: 'P' }),
    serialize.execute(),
    serialize.sync(),
  ];
}

interface Column {
  name: string;
  read(text: string): unknown;
}

/** Takes apart what the engine said. */
export function readReply(bytes: Uint8Array): EngineReply {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reply: EngineReply = { result: { rows: [], command: '' }, error: undefined, prepared: 0 };
  let columns: Column[] = [];
  let rows: EngineResult['rows'] = [];
  for (let at = 0; at < buffer.length; ) {
    const kind = String.fromCharCode(buffer[at]!);
    const body = at + 5;
    const end = at + 1 + buffer.readInt32BE(at + 1);
    if (kind === 'T') columns = columnsOf(buffer, body);
    else if (kind === 'D') rows.push(rowOf(buffer, body, columns));
    else if (kind === 'C') {
      reply.result = { rows, command: buffer.toString('latin1', body, end - 1).split(' ')[0]! };
      rows = [];
    } else if (kind === 'E') reply.error ??= errorOf(buffer.subarray(body, end));
    else if (kind === '1') reply.prepared += 1;
    at = end;
  }
  return reply;
}

function columnsOf(buffer: Buffer, from: number): Column[] {
  const columns: Column[] = [];
  let at = from + 2;
  for (let left = buffer.readInt16BE(from); left > 0; left--) {
    const nameEnd = buffer.indexOf(0, at);
    const oid = buffer.readInt32BE(nameEnd + 7);
    columns.push({
      name: buffer.toString('utf8', at, nameEnd),
      read: valueTypes.getTypeParser(oid, 'text') as Column['read'],
    });
    at = nameEnd + 19;
  }
  return columns;
}

function rowOf(buffer: Buffer, from: number, columns: readonly Column[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let at = from + 2;
  for (const { name, read } of columns) {
    const length = buffer.readInt32BE(at);
    at += 4;
    row[name] = length < 0 ? null : read(buffer.toString('utf8', at, at + length));
    at += Math.max(0, length);
  }
  return row;
}

/** Fields, each with a letter before it: the SQLSTATE, the message, the detail. */
function errorOf(fields: Uint8Array): Error {
  const said = new Map<string, string>();
  for (const field of decoder.decode(fields).split('\0')) said.set(field.slice(0, 1), field.slice(1));
  return Object.assign(new Error(said.get('M') ?? ''), { code: said.get('C'), detail: said.get('D') });
}

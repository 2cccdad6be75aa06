import type { MsgHdrs } from 'nats';
import { MsgHdrsImpl } from 'nats/lib/nats-base-client/headers.js';

/** A message on its way. Headers are bytes where a client wrote them, and an object where the server did. */
export interface WireMessage {
  subject: string;
  reply: string;
  data: Uint8Array;
  headers: Uint8Array | MsgHdrs | undefined;
}

/** No data. */
export const nothing = new Uint8Array();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Text as data. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Data as text. */
export function textOf(data: Uint8Array): string {
  return decoder.decode(data);
}

/** What the server says without data: a code, what it means, and perhaps more. */
export function status(code: number, description: string, more: Record<string, string> = {}): MsgHdrs {
  const headers = new MsgHdrsImpl(code, description);
  for (const [name, value] of Object.entries(more)) headers.headers.set(name, [value]);
  return headers;
}

/** Headers as an object, whoever wrote them. */
export function headersOf(headers: WireMessage['headers']): MsgHdrs | undefined {
  return headers instanceof Uint8Array ? MsgHdrsImpl.decode(headers) : headers;
}

/** Headers that say what they are told to, and what others say. */
export function headersFrom(values: Record<string, string>, others: WireMessage['headers']): MsgHdrs {
  const headers = new MsgHdrsImpl();
  for (const [name, value] of Object.entries(values)) headers.headers.set(name, [value]);
  const more = headersOf(others);
  if (more) for (const [name, value] of more) headers.headers.set(name, value);
  return headers;
}

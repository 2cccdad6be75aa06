import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { Refusal } from '../../streams/core/index.js';
import { rpcAnswer, rpcIdOf } from '../http/json-rpc.js';

/** So long a line may become, in bytes, as with the SDK; the service takes far less. */
const longestLine = 10 * 1024 * 1024;
const lineEnd = 10;

const notJson = new Refusal('parse_error', 'The line is not JSON');
const tooLong = new Refusal(
  'parse_error',
  `The line has more than ${longestLine} bytes: the session ends here`,
);
const noMessage = new Refusal('invalid_request', 'The line is no JSON-RPC 2.0 message', {
  hint: 'Each line is one message: a request has jsonrpc "2.0", a method, an id that is text or a whole number, and params that are an object',
});

/**
 * MCP over lines of text, like the SDK's transport. That one leaves whoever sends what is no message without an answer,
 * and loses a last line without its end.
 */
export class LineTransport implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #input: Readable;
  readonly #output: Writable;
  #rest: Buffer = Buffer.alloc(0);

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#take).on('end', this.#end).on('error', this.#fail);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#write(message)) await once(this.#output, 'drain');
  }

  async close(): Promise<void> {
    this.#input.off('data', this.#take).off('end', this.#end).off('error', this.#fail).pause();
    this.#rest = Buffer.alloc(0);
    this.onclose?.();
  }

  readonly #take = (chunk: Buffer): void => {
    let bytes = Buffer.concat([this.#rest, chunk]);
    for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd)) {
      this.#read(bytes.toString('utf8', 0, at));
      bytes = bytes.subarray(at + 1);
    }
    this.#rest = bytes;
    if (bytes.length <= longestLine) return;
    this.#refuse(null, tooLong, `a line of more than ${longestLine} bytes`);
    void this.close();
  };

  readonly #end = (): void => {
    this.#read(this.#rest.toString('utf8'));
    this.#rest = Buffer.alloc(0);
  };

  readonly #fail = (error: Error): void => this.onerror?.(error);

  #read(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      this.#refuse(null, notJson, (error as Error).message);
      return;
    }
    const message = JSONRPCMessageSchema.safeParse(value);
    if (message.success) this.onmessage?.(message.data);
    else this.#refuse(rpcIdOf(value), noMessage, `no JSON-RPC 2.0 message: ${line}`);
  }

  #refuse(id: string | number | null, refusal: Refusal, what: string): void {
    this.#write({ jsonrpc: '2.0', id, error: rpcAnswer(refusal)!.error });
    this.#fail(new Error(what));
  }

  #write(message: object): boolean {
    return this.#output.write(`${JSON.stringify(message)}\n`);
  }
}

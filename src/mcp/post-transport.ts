import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { jsonOf } from '../stores/kept-answers.js';

/** The answer to a POST; without a text if nothing was asked. */
export interface PostAnswer {
  status: number;
  text?: string;
}

/** The most messages of a batch, as with the SDK. */
const mostMessages = 100;
const refused = -32000;

/**
 * One POST to a server of the SDK without sessions, answered as JSON. The SDK's own transport does the same
 * through a `Request` and a `Response` with their streams, which cost more than most tools.
 */
export class PostTransport implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  /** The answers under the ids of their requests, in the order of the requests; `undefined` until one is there. */
  readonly #answers = new Map<RequestId, JSONRPCMessage | undefined>();
  #missing = 0;
  #complete: (answers: JSONRPCMessage[]) => void = () => {};

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.onclose?.();
  }

  /** Hands messages to the server. Resolves with its answers, when all of them are there. */
  async exchange(
    messages: readonly JSONRPCMessage[],
    protocolVersion: string | undefined,
  ): Promise<PostAnswer> {
    const wrong = whatIsWrong(messages, protocolVersion);
    if (wrong) return wrong;
    const texts = (await this.answersTo(messages)).map(textOf);
    if (texts.length === 0) return { status: 202 };
    return { status: 200, text: texts.length === 1 ? texts[0]! : `[${texts.join(',')}]` };
  }

  /** Hands messages to the server. Resolves with its answers to the requests among them, when all are there. */
  async answersTo(messages: readonly JSONRPCMessage[]): Promise<JSONRPCMessage[]> {
    for (const message of messages) if (isJSONRPCRequest(message)) this.#answers.set(message.id, undefined);
    this.#missing = this.#answers.size;
    const answered = new Promise<JSONRPCMessage[]>((resolve) => {
      this.#complete = resolve;
    });
    for (const message of messages) {
      // who cancels a request gets no answer to it from the SDK, and would wait here for ever
      if (!isCancelling(message)) this.onmessage?.(message);
    }
    return this.#answers.size === 0 ? [] : await answered;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    // other messages to a client go nowhere: it has no stream here
    if (!('result' in message || 'error' in message) || message.id === undefined) return;
    // the same id twice is one request
    if (!this.#answers.has(message.id) || this.#answers.get(message.id)) return;
    this.#answers.set(message.id, message);
    this.#missing -= 1;
    if (this.#missing === 0) this.#complete([...this.#answers.values()] as JSONRPCMessage[]);
  }
}

/** Each POST has a server of its own, so there is nothing to cancel but what it asks itself. */
const isCancelling = (message: JSONRPCMessage): boolean =>
  'method' in message && message.method === 'notifications/cancelled';

/** The protocol's objection to these messages, in the words of the SDK. */
function whatIsWrong(
  messages: readonly JSONRPCMessage[],
  version: string | undefined,
): PostAnswer | undefined {
  if (messages.length > mostMessages)
    return refusal(
      ErrorCode.InvalidRequest,
      `Invalid Request: Batch must not exceed ${mostMessages} messages`,
    );
  if (messages.some((message) => isInitializeRequest(message)))
    return messages.length > 1
      ? refusal(ErrorCode.InvalidRequest, 'Invalid Request: Only one initialization request is allowed')
      : undefined;
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return undefined;
  const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  return refusal(
    refused,
    `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`,
  );
}

const refusal = (code: number, message: string): PostAnswer => ({
  status: 400,
  text: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
});

function textOf(message: JSONRPCMessage): string {
  if (!('result' in message)) return JSON.stringify(message);
  const { id, result } = message;
  return `{"result":${jsonOf(result)},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

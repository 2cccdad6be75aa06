import type { OpenAI } from 'openai';
import { timeout } from '../../streams/core/clock.js';
import { costOf, type Prices, type Tokens } from '../../streams/deliberation/index.js';
import { boundedFetch } from '../core/fetch.js';
import { CallFailure, failureOf } from './failures.js';
import { bytesOf, type Message } from './prompts.js';

/** A model that queries may name, and how it is reached. */
export interface Model {
  /** Name in queries. */
  id: string;
  provider: string;
  /** Base address of the provider's OpenAI-compatible API. */
  baseUrl: string;
  /** Name of the model at its provider. */
  name: string;
  apiKey: string | undefined;
  prices: Prices;
  capabilities: string[];
  /** Whether its answers are streamed. */
  stream: boolean;
  /** The provider's name for the bound of an answer. */
  tokensParameter: 'max_tokens' | 'max_completion_tokens';
}

/** What a model is asked. */
export interface Ask {
  messages: Message[];
  maxTokens: number;
  temperature: number | null;
  /** Bound of the whole call, in milliseconds. */
  timeoutMs: number;
  /** Ends the call when nobody wants its answer any more. */
  signal: AbortSignal;
}

/** What a model answered. */
export interface Completion {
  content: string;
  /** Why it ended, in its provider's words; `too_large` if we ended it. */
  finish: string;
  tokens: Tokens;
  /** Billionths of a dollar. */
  cost: number;
  /** Whether tokens and costs are our own count, because the provider did not say. */
  estimated: boolean;
}

/**
 * Bytes of an answer that are kept. The log takes no message larger than a megabyte, and quoting may double
 * it.
 */
const mostBytes = 256 * 1024;

/**
 * The most that a call can cost, in billionths of a dollar, from the bytes that go in and the tokens that may
 * come out.
 */
export function worstCost({ prices }: Model, bytes: number, maxTokens: number): number {
  // no usual tokenizer makes more tokens of a text than it has bytes
  return costOf(prices, { in: bytes, out: maxTokens });
}

/**
 * Asks models, each over a client of its own. Nothing is repeated here: the caller first records each
 * attempt.
 */
export class Models {
  readonly #clients = new Map<string, Promise<OpenAI>>();

  /** Asks once. Every error is a `CallFailure`. */
  async ask(model: Model, { messages, maxTokens, temperature, timeoutMs, signal }: Ask): Promise<Completion> {
    const worst = worstCost(model, bytesOf(messages), maxTokens);
    const body = {
      model: model.name,
      messages,
      [model.tokensParameter]: maxTokens,
      ...(temperature === null ? {} : { temperature }),
    };
    const client = await this.#client(model).catch((error: Error) => {
      throw new CallFailure('model_refused', error.message, false, 0);
    });
    // from here on: a slow load of the client is not the model's fault
    const late = timeout(timeoutMs);
    const ended = AbortSignal.any([signal, late]);
    try {
      const said = model.stream ? await streamed(client, body, ended) : await whole(client, body, ended);
      // a stream that is ended from here stops without an error
      ended.throwIfAborted();
      return completionOf(model, messages, said);
    } catch (error) {
      const failure = failureOf(error, { worst, isLate: late.aborted, isCut: signal.aborted });
      // some providers quote the key that they refuse, and reasons are logged and shown
      if (model.apiKey) failure.message = failure.message.replaceAll(model.apiKey, '***');
      throw failure;
    }
  }

  #client(model: Model): Promise<OpenAI> {
    let client = this.#clients.get(model.id);
    if (!client) {
      client = clientOf(model);
      this.#clients.set(model.id, client);
      // its package may be there at the next question
      client.catch(() => this.#clients.delete(model.id));
    }
    return client;
  }
}

/** Loads the package that asks models. It is large: a process that asks no model does not load it. */
export const loadOpenAi = () => import('openai');

async function clientOf({ baseUrl, apiKey }: Model): Promise<OpenAI> {
  const { OpenAI } = await loadOpenAi();
  return new OpenAI({
    baseURL: baseUrl,
    // the package requires one; the header is left out below
    apiKey: apiKey ?? 'none',
    // values that the package would find in the environment are meant for another provider
    organization: null,
    project: null,
    adminAPIKey: null,
    ...(apiKey === undefined ? { defaultHeaders: { authorization: null } } : {}),
    maxRetries: 0,
    logLevel: 'off',
    // keys and prompts go to the address that was configured, and to no other
    fetchOptions: { redirect: 'error' },
    // its signal is to end a stream too
    fetch: (url, init) => boundedFetch(url, init),
  });
}

/** The answer, with its tokens if the provider counted them. */
interface Said {
  content: string;
  finish: string | undefined;
  tokens: Tokens | undefined;
}

type Body = Omit<OpenAI.ChatCompletionCreateParams, 'stream'>;
type Usage = OpenAI.CompletionUsage | null | undefined;

async function streamed(client: OpenAI, body: Body, signal: AbortSignal): Promise<Said> {
  const { data: chunks, response } = await client.chat.completions
    .create({ ...body, stream: true, stream_options: { include_usage: true } }, { signal })
    .withResponse();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    chunks.controller.abort();
    throw new CallFailure(
      'model_invalid_answer',
      'the provider does not stream: set "stream" to false',
      false,
    );
  }
  const said: Said = { content: '', finish: undefined, tokens: undefined };
  let bytes = 0;
  for await (const { choices, usage } of chunks) {
    const [choice] = choices ?? [];
    const text = choice?.delta?.content ?? '';
    bytes += Buffer.byteLength(text);
    if (bytes > mostBytes) return { ...said, finish: 'too_large' };
    said.content += text;
    said.finish = choice?.finish_reason ?? said.finish;
    said.tokens = tokensOf(usage) ?? said.tokens;
  }
  // the connection was closed properly, but in the middle of the answer
  if (said.finish === undefined && !signal.aborted)
    throw new CallFailure('answer_lost', 'the stream ended before the answer did', true);
  return said;
}

async function whole(client: OpenAI, body: Body, signal: AbortSignal): Promise<Said> {
  const { choices, usage } = await client.chat.completions.create({ ...body, stream: false }, { signal });
  // a proxy between us and the model may have answered instead
  if (!Array.isArray(choices))
    throw new CallFailure('model_invalid_answer', 'the answer does not follow the protocol', false);
  const [choice] = choices;
  const content = choice?.message?.content ?? '';
  const isTooLarge = Buffer.byteLength(content) > mostBytes;
  return {
    content: isTooLarge ? Buffer.from(content).subarray(0, mostBytes).toString() : content,
    finish: isTooLarge ? 'too_large' : (choice?.finish_reason ?? 'stop'),
    tokens: tokensOf(usage),
  };
}

function completionOf(model: Model, messages: Message[], said: Said): Completion {
  const { content, finish = 'stop' } = said;
  const tokens = said.tokens ?? { in: guessed(bytesOf(messages)), out: guessed(Buffer.byteLength(content)) };
  const cost = costOf(model.prices, tokens);
  if (content.trim() === '')
    throw new CallFailure('empty_answer', `the answer is empty (${finish})`, false, cost);
  return { content, finish, tokens, cost, estimated: said.tokens === undefined };
}

function tokensOf(usage: Usage): Tokens | undefined {
  const { prompt_tokens, completion_tokens } = usage ?? {};
  const isCount = (count: unknown): count is number => Number.isSafeInteger(count) && (count as number) >= 0;
  return isCount(prompt_tokens) && isCount(completion_tokens)
    ? { in: prompt_tokens, out: completion_tokens }
    : undefined;
}

/** Estimated tokens of a text, by the usual ratio. */
function guessed(bytes: number): number {
  return Math.ceil(bytes / 4);
}

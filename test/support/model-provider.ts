import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';
import { sendJson } from './marketplace.js';
import type { Teardown } from './server-process.js';

/** A call that a test provider got. */
export interface SeenCall {
  path: string;
  headers: IncomingMessage['headers'];
  model: string;
  messages: { role: string; content: string }[];
  stream: boolean;
  /** The body as it came. */
  body: Record<string, unknown>;
  /** All that the messages say, in one text. */
  text: string;
  /** Whether this is the call for a synthesis. */
  isSynthesis: boolean;
}

/** What a test provider says to a call. */
export interface Said {
  content: string;
  finish?: string;
  /** Tokens in and out; `null` leaves them out. */
  usage?: [number, number] | null;
}

/** A real HTTP server that speaks the chat-completions protocol; `answer` may be replaced at any time. */
export interface TestProvider {
  /** Base address, as in a file of models. */
  url: string;
  seen: SeenCall[];
  /** Calls that are under way now. */
  open: number;
  answer(call: SeenCall, response: ServerResponse): void | Promise<void>;
  /** The calls for a model, in their order. */
  of(model: string): SeenCall[];
  /** Waits until so many calls have come in all. */
  untilSeen(count: number): Promise<void>;
}

/** Answers in the protocol, with or without streaming, as the call wants it. */
export function say(
  call: Pick<SeenCall, 'stream' | 'model'>,
  response: ServerResponse,
  { content, finish = 'stop', usage = [10, 5] }: Said,
): void {
  const counted = usage && { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: 0 };
  if (!call.stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }];
    sendJson(response, 200, {
      id: 'x',
      object: 'chat.completion',
      model: call.model,
      choices,
      usage: counted,
    });
    return;
  }
  startStream(response);
  for (const part of content.match(/[\s\S]{1,7}/g) ?? []) chunk(response, { content: part });
  chunk(response, {}, finish);
  if (counted) event(response, { choices: [], usage: counted });
  response.end('data: [DONE]\n\n');
}

/** Begins a streamed answer. */
export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** One part of a streamed answer. */
export function chunk(response: ServerResponse, delta: object, finish: string | null = null): void {
  event(response, { choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
}

function event(response: ServerResponse, data: object): void {
  response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', ...data })}\n\n`);
}

/** A synthesis as models are asked to give it. */
export const synthesis = (consensus: string, agreement = 0.8, dissent: string[] = []) =>
  JSON.stringify({ consensus, agreement, dissent });

/** Says its model's name and round, and draws together what is asked to be. */
export function plainly(call: SeenCall, response: ServerResponse): void {
  const content = call.isSynthesis ? synthesis('agreed', 0.75, ['one differs']) : `${call.model} says so`;
  say(call, response, { content });
}

/** Starts a provider that answers every call plainly. */
export async function startProvider(t: Teardown): Promise<TestProvider> {
  const provider: TestProvider = {
    url: '',
    seen: [],
    open: 0,
    answer: plainly,
    of: (model) => provider.seen.filter((call) => call.model === model),
    untilSeen: async (count) => {
      await eventually(`${count} calls of models`, () => provider.seen.length >= count);
    },
  };
  const server = createServer(async (request, response) => {
    provider.open += 1;
    response.once('close', () => {
      provider.open -= 1;
    });
    const chunks: Buffer[] = [];
    for await (const part of request) chunks.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    const messages = body.messages as SeenCall['messages'];
    const call: SeenCall = {
      path: request.url ?? '',
      headers: request.headers,
      messages,
      body,
      model: String(body.model),
      stream: body.stream === true,
      text: messages.map(({ content }) => content).join('\n'),
      isSynthesis: messages[0]?.content.startsWith('You draw the answers') === true,
    };
    provider.seen.push(call);
    await provider.answer(call, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return provider;
}

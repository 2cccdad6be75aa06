import type { Stage } from '../scenario.js';
import type { World } from '../world.js';
import type { Asked } from './outside.js';

/** A call of a model, as its provider got it. */
export interface ModelCall {
  /** The beginning of the prompt: `q7`. */
  query: string;
  model: string;
  /** From 1; 0 for the synthesis of answers. */
  round: number;
  process: string;
  at: number;
  /** What it really costs, in billionths of a dollar; 0 until it has been answered. */
  cost: number;
}

interface Message {
  role: string;
  content: string;
}

/** What a call costs in tokens in and out, in billionths of a dollar each. */
export const tokenNanoUsd = { in: 1_000, out: 2_000 };

/** Providers of models: every call, and an answer in the protocol that they all speak. */
export class SimulatedModels {
  readonly calls: ModelCall[] = [];
  /** Called for each call, with the process that makes it: it may not live to hear the answer. */
  called: (process: string) => void = () => {};
  /** How long a model thinks at most, in milliseconds. */
  thinksMs = 1_500;
  readonly #world: World;
  readonly #random;

  constructor({ world }: Stage) {
    this.#world = world;
    this.#random = world.random.fork();
  }

  /** Answers as a provider. */
  async serve({ body, process }: Asked): Promise<Response> {
    const random = this.#random;
    const asked = JSON.parse(body) as {
      model: string;
      messages: Message[];
      stream: boolean;
      max_tokens: number;
    };
    const { model, messages, stream, max_tokens } = asked;
    const text = messages.map(({ content }) => content).join('\n');
    const [query = ''] = /\bq\d+\b/.exec(text) ?? [];
    const call = { query, model, round: roundOf(text, model), process, at: this.#world.now, cost: 0 };
    this.calls.push(call);
    this.#world.tell(model, `is asked by ${process} in round ${call.round} of ${query}`);
    this.called(process);
    await new Promise<void>((resolve) => this.#world.after(random.int(50, this.thinksMs), resolve));
    const usage = {
      prompt_tokens: random.int(1, Buffer.byteLength(text)),
      completion_tokens: random.int(1, max_tokens),
    };
    call.cost = usage.prompt_tokens * tokenNanoUsd.in + usage.completion_tokens * tokenNanoUsd.out;
    const says = `${model} says ${random.int(1, 9)} to ${query}`;
    const content =
      call.round === 0 && random.chance(0.8)
        ? JSON.stringify({ consensus: says, agreement: 0.5, dissent: [] })
        : random.chance(0.03)
          ? ''
          : says;
    this.#world.tell(model, `answers in round ${call.round} of ${query}, for ${call.cost}`);
    return stream ? streamed(content, usage) : whole(content, usage);
  }
}

/** Which round a call is for, by what it is told. */
function roundOf(text: string, model: string): number {
  if (text.startsWith('You draw the answers')) return 0;
  const [, debate] = /This is round (\d) of a debate/.exec(text) ?? [];
  if (debate !== undefined) return Number(debate);
  return 1 + text.split(`<<<${model}, round `).length - 1;
}

function whole(content: string, usage: object): Response {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return Response.json({ id: 'x', object: 'chat.completion', choices, usage });
}

function streamed(content: string, usage: object): Response {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', ...more })}\n\n`;
  const said = chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(`${said}${end}${chunk({ choices: [], usage })}data: [DONE]\n\n`, { headers });
}

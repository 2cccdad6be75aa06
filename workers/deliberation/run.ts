import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { backoff, isExpected, type Log, newId, pause, retry } from '../../streams/core/index.js';
import {
  attemptUnderWay,
  type DeliberationFact,
  deliberation,
  isOvertaken,
  type QueryCommand,
  queryDecider,
  querySubject,
} from '../../streams/deliberation/index.js';
import type { CallFailure } from './failures.js';
import { type Completion, type Model, type Models, worstCost } from './model.js';
import { nextStep, type Step } from './plan.js';
import { bytesOf, messagesFor, synthesisBytes, tokensFor } from './prompts.js';
import { readSynthesis } from './synthesis.js';
import { Transcript } from './transcript.js';

/** What queries are run with; times in milliseconds. */
export interface RunOptions {
  log: Log;
  logger: Logger;
  /** The models by id. */
  known: ReadonlyMap<string, Model>;
  models: Models;
  callTimeoutMs: number;
  /** Pause before the second attempt; longer before the third. */
  retryMs: number;
  /** Aborted: nothing is begun any more. */
  stopped: AbortSignal;
  /** Aborted a little later than `stopped`: calls under way are left, too. */
  cut: AbortSignal;
}

type CommandOf<Is> = Extract<QueryCommand, { is: Is }>;

const actor = 'deliberate';
/** The log is away: pauses between attempts to record. */
const logPauses = { first: 500, longest: 500 };
const longestRetryMs = 30_000;

/**
 * One query, from its record to its end. A model's answer is recorded before anything else is done with it,
 * however long that takes.
 */
export class QueryRun {
  readonly #id: string;
  readonly #options: RunOptions;
  readonly #transcript = new Transcript();
  #seq = 0;
  /** Another process runs the query: two at a time would take each other's calls for lost. */
  #isOvertaken = false;

  constructor(id: string, options: RunOptions) {
    this.#id = id;
    this.#options = options;
  }

  /**
   * Whether the query has ended. If not, the worker stops, or another process runs it. Throws unexpected
   * errors.
   */
  async run(): Promise<boolean> {
    const { stopped } = this.#options;
    while (!stopped.aborted && !this.#isOvertaken) {
      await this.#read();
      const step = nextStep(this.#transcript);
      if (step.is === 'nothing') return true;
      await this.#take(step);
    }
    return false;
  }

  /** Ends a query that cannot be run. */
  async giveUp(code: string, message: string): Promise<void> {
    await this.#record({ is: 'give up', id: this.#id, code, message });
  }

  async #take(step: Exclude<Step, { is: 'nothing' }>): Promise<void> {
    const id = this.#id;
    switch (step.is) {
      case 'start':
      case 'complete':
        await this.#record({ is: step.is, id });
        break;
      case 'give up':
        await this.giveUp(step.code, step.message);
        break;
      case 'conclude': {
        const { model, content, synthesized } = step;
        const result = synthesized
          ? readSynthesis(content)
          : { consensus: content, agreement: 1, dissent: [] };
        await this.#record({ is: 'conclude', id, model, ...result });
        break;
      }
      case 'ask':
        await this.#askAll(step.round, step.models);
    }
  }

  async #read(): Promise<void> {
    const { log } = this.#options;
    const subject = querySubject(this.#id);
    await this.#untilLogged(async () => {
      for await (const fact of log.subject(deliberation, subject, this.#seq + 1)) {
        this.#transcript.fold(fact);
        this.#seq = fact.seq;
      }
    });
  }

  /** Records every call, one after the other, and then makes them at the same time. */
  async #askAll(round: number, models: string[]): Promise<void> {
    const calls: Promise<void>[] = [];
    for (const id of models) {
      const model = this.#options.known.get(id);
      if (model) calls.push(this.#ask(round, model, await this.#mayAsk(round, model)));
      else await this.#refuse(round, id);
    }
    const [failure] = (await Promise.allSettled(calls)).filter((end) => end.status === 'rejected');
    if (failure) throw failure.reason;
  }

  /** Number of the attempt, if one may be made: it is on record then. */
  async #mayAsk(round: number, model: Model): Promise<number | undefined> {
    const transcript = this.#transcript;
    const maxTokens = tokensFor(transcript.query!, round);
    const worst = worstCost(model, bytesOf(messagesFor(transcript, round, model.id)), maxTokens);
    const keep = round === 0 ? 0 : this.#keptForSynthesis();
    return await this.#onRecord({ round, model: model.id, worst, keep });
  }

  /**
   * Records that a model is about to be asked. Answers the number of the attempt, unless it may not be made.
   */
  async #onRecord(call: Pick<CommandOf<'ask'>, 'round' | 'model' | 'worst' | 'keep'>) {
    const askId = newId();
    const recorded = await this.#handle({ is: 'ask', id: this.#id, askId, ...call });
    return recorded && attemptUnderWay(recorded.state, { ...call, askId });
  }

  /** Makes a call, and repeats it if a retry may help. Ends when the outcome of this round is on record. */
  async #ask(round: number, model: Model, first: number | undefined): Promise<void> {
    const { stopped, cut, models, callTimeoutMs: timeoutMs } = this.#options;
    const query = this.#transcript.query!;
    const messages = messagesFor(this.#transcript, round, model.id);
    const maxTokens = tokensFor(query, round);
    for (let attempt = first; attempt !== undefined && !cut.aborted; ) {
      const before = clock.elapsed();
      const about = { round, model: model.id, attempt };
      const ms = () => Math.round(clock.elapsed() - before);
      const { temperature } = query;
      let answer: Completion;
      try {
        answer = await models.ask(model, { messages, maxTokens, temperature, timeoutMs, signal: cut });
      } catch (error) {
        attempt = await this.#failed({ ...about, ms: ms() }, error as CallFailure, model);
        if (stopped.aborted) return;
        continue;
      }
      const { content, finish, tokens, cost: cost_nano_usd, estimated } = answer;
      const received = { content, finish, tokens, cost_nano_usd, estimated, ms: ms() };
      await this.#recordEnd({ is: 'answer', id: this.#id, ...about, ...received });
      return;
    }
  }

  /** Records a failure. Answers the number of the next attempt, if there should be one. */
  async #failed(
    about: Pick<CommandOf<'fail'>, 'round' | 'model' | 'attempt' | 'ms'>,
    { code, message, retry, cost = 0, retryAfterMs = 0 }: CallFailure,
    model: Model,
  ): Promise<number | undefined> {
    const { logger, retryMs, stopped } = this.#options;
    // left open on record: the process that continues counts it as lost
    if (code === 'cancelled') return undefined;
    logger.warn({ query: this.#id, ...about, code, reason: message }, 'model did not answer');
    const failure = { ...about, code, message, retry, cost_nano_usd: cost };
    const fact = await this.#recordEnd({ is: 'fail', id: this.#id, ...failure });
    if (fact?.type !== 'response.failed' || fact.data.final) return undefined;
    const pauseMs = Math.max(
      retryAfterMs,
      backoff(about.attempt, { first: retryMs, longest: longestRetryMs }),
    );
    await pause(Math.min(pauseMs, longestRetryMs), stopped);
    return stopped.aborted ? undefined : await this.#mayAsk(about.round, model);
  }

  /** A model that this process does not know is recorded as failed, without a call. */
  async #refuse(round: number, model: string): Promise<void> {
    const attempt = await this.#onRecord({ round, model, worst: 0, keep: 0 });
    if (attempt === undefined) return;
    await this.#record({
      is: 'fail',
      id: this.#id,
      round,
      model,
      attempt,
      retry: false,
      cost_nano_usd: 0,
      ms: 0,
      code: 'model_unknown',
      message: 'the model is not configured any more',
    });
  }

  #keptForSynthesis(): number {
    const query = this.#transcript.query!;
    const model = this.#options.known.get(query.synthesizer);
    if (!model || query.models.length === 1) return 0;
    return worstCost(model, synthesisBytes(this.#transcript), tokensFor(query, 0));
  }

  /**
   * Runs a command, however long the log is away; `undefined` if it changed nothing, or when the worker
   * stops.
   */
  async #record(command: QueryCommand): Promise<DeliberationFact | undefined> {
    return (await this.#handle(command))?.fact;
  }

  /** Records what came of an attempt. */
  async #recordEnd(command: CommandOf<'answer'> | CommandOf<'fail'>): Promise<DeliberationFact | undefined> {
    const recorded = await this.#handle(command);
    if (recorded && isOvertaken(recorded.state, command)) this.#isOvertaken = true;
    return recorded?.fact;
  }

  async #handle(command: QueryCommand) {
    const { log } = this.#options;
    return await this.#untilLogged(() => log.handle(deliberation, queryDecider, command, { by: actor }));
  }

  async #untilLogged<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { cut, logger } = this.#options;
    const failed = (error: unknown) => {
      if (!isExpected(error) || error.kind !== 'unavailable') throw error;
      logger.info({ query: this.#id, error: error.message }, 'query waits for the event log');
    };
    return cut.aborted ? undefined : await retry(work, { pauses: logPauses, failed, signal: cut });
  }
}

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isExpected } from '../../streams/core/index.js';
import { refusals } from '../../streams/refusals.js';
import { type Call, parseInput } from '../operations/core/call.js';
import {
  Answerable,
  Envelope,
  faultAnswer,
  idOf,
  type Message,
  type RpcAnswer,
  RpcFault,
  SendParams,
  type Task,
  TaskParams,
} from './protocol.js';
import { type Finding, maxLimit, NotReadable, type Skill, skillOf, skills } from './skills.js';
import type { Tasks } from './tasks.js';

/** What the agent answers with. */
export interface AgentOptions {
  call: Call;
  tasks: Pick<Tasks, 'find' | 'keep'>;
  logger: Logger;
}

const methodsHint = 'This agent knows message/send, tasks/get and tasks/cancel';
const noPush = 'Push notifications are not supported: ask tasks/get for what became of a task';
const Limit = z.int().min(1).max(maxLimit);

/** Answers requests of other agents: reads of the public API, as tasks. It cannot change anything. */
export class Agent {
  readonly #callOperation: Call;
  readonly #tasks: Pick<Tasks, 'find' | 'keep'>;
  readonly #logger: Logger;

  constructor({ call, tasks, logger }: AgentOptions) {
    this.#callOperation = call;
    this.#tasks = tasks;
    this.#logger = logger;
  }

  /** The answer to a request from an address, whatever it is; never rejects. */
  async answer(request: unknown, address?: string): Promise<RpcAnswer> {
    const id = idOf(request);
    try {
      const { method, params = {} } = parsed(Envelope, request, 'invalid_request');
      const run = this.#prepared(method, params, address);
      parsed(Answerable, request, 'invalid_request');
      return { jsonrpc: '2.0', id, result: await run() };
    } catch (error) {
      if (error instanceof RpcFault) return faultAnswer(id, error);
      this.#logger.error({ err: error }, 'request of an agent failed');
      return faultAnswer(id, new RpcFault('internal_error', refusals.internal_error.says));
    }
  }

  /** What answers a method, when its parameters are good. */
  #prepared(method: string, params: unknown, address: string | undefined): () => Promise<Task> {
    switch (method) {
      case 'message/send': {
        const given = parsed(SendParams, params);
        return () => this.#send(given, address);
      }
      case 'tasks/get': {
        const { id, historyLength } = parsed(TaskParams, params);
        return async () => shortened((await this.#find(id)).task, historyLength);
      }
      case 'tasks/cancel': {
        const { id } = parsed(TaskParams, params);
        return () => this.#cancel(id);
      }
      case 'message/stream':
      case 'tasks/resubscribe':
        throw new RpcFault('unsupported_operation', 'This agent answers at once: use message/send');
      case 'agent/getAuthenticatedExtendedCard':
        throw new RpcFault('no_extended_card', 'The card that everybody gets is the whole card');
    }
    if (/^tasks\/pushNotificationConfig\/(set|get|list|delete)$/.test(method))
      throw new RpcFault('push_not_supported', noPush);
    const says = `There is no method ${method.slice(0, 100)}`;
    throw new RpcFault('method_not_found', says, undefined, methodsHint);
  }

  async #send(
    { message, configuration }: z.output<typeof SendParams>,
    address: string | undefined,
  ): Promise<Task> {
    if (configuration?.pushNotificationConfig) throw new RpcFault('push_not_supported', noPush);
    const modes = configuration?.acceptedOutputModes ?? [];
    if (modes.length > 0 && !modes.some((mode) => /^(application\/json|text\/plain|\*\/\*)$/.test(mode)))
      throw new RpcFault('content_type_not_supported', 'This agent answers application/json and text/plain');
    if (message.parts.every(({ kind }) => kind === 'file'))
      throw new RpcFault('content_type_not_supported', 'This agent reads text and data, no files');

    const known = message.taskId === undefined ? undefined : await this.#continued(message.taskId, message);
    const ids = {
      id: known?.task.id ?? randomUUID(),
      contextId: known?.task.contextId ?? message.contextId ?? randomUUID(),
    };
    const said: Message = { ...message, taskId: ids.id, contextId: ids.contextId };
    const task: Task = {
      kind: 'task',
      ...ids,
      ...(await this.#outcome(wanted(message), ids)),
      history: [...(known?.task.history ?? []), said],
    };
    await this.#keep(task, known?.revision ?? 0, address);
    return shortened(task, configuration?.historyLength);
  }

  /** The task that a message continues: one that waits for it. */
  async #continued(id: string, { contextId }: Message): Promise<{ task: Task; revision: number }> {
    const found = await this.#find(id);
    if (contextId !== undefined && contextId !== found.task.contextId)
      throw new RpcFault('invalid_params', 'message.contextId is not the one of the task');
    if (found.task.status.state !== 'input-required')
      throw new RpcFault(
        'invalid_request',
        `The task is ${found.task.status.state}: send a message without taskId`,
      );
    return found;
  }

  async #outcome(
    { skill, limit }: { skill: Skill | undefined; limit: number | undefined },
    ids: { id: string; contextId: string },
  ): Promise<Pick<Task, 'status' | 'artifacts'>> {
    const timestamp = new Date().toISOString();
    if (!skill) return { status: { state: 'input-required', timestamp, message: choice(ids) } };
    try {
      const { data, text }: Finding = await skill.find(this.#callOperation, limit);
      const parts = [
        { kind: 'data', data },
        { kind: 'text', text },
      ];
      return {
        status: { state: 'completed', timestamp },
        artifacts: [{ artifactId: randomUUID(), name: skill.id, parts }],
      };
    } catch (error) {
      if (!(error instanceof NotReadable)) throw error;
      const text = `${skill.name} cannot be read now: ${error.message}`;
      return { status: { state: 'failed', timestamp, message: fromAgent(ids, [{ kind: 'text', text }]) } };
    }
  }

  async #cancel(id: string): Promise<Task> {
    for (;;) {
      const { task, revision } = await this.#find(id);
      const { state } = task.status;
      if (state !== 'input-required')
        throw new RpcFault('task_not_cancelable', `The task is ${state} already`);
      const timestamp = new Date().toISOString();
      const canceled: Task = { ...task, status: { state: 'canceled', timestamp } };
      if (await this.#tasks.keep(canceled, revision)) return canceled;
    }
  }

  async #find(id: string): Promise<{ task: Task; revision: number }> {
    const found = await this.#tasks.find(id).catch((error: unknown) => {
      if (!isExpected(error)) this.#logger.warn({ err: error }, 'task of an agent not looked up');
      throw new RpcFault('internal_error', 'Tasks cannot be looked up now');
    });
    if (!found) throw new RpcFault('task_not_found', 'There is no such task; tasks are known for an hour');
    return found;
  }

  /** An answer that could not be kept is still an answer. */
  async #keep(task: Task, revision: number, address: string | undefined): Promise<void> {
    const kept = await this.#tasks.keep(task, revision, address).catch((error: unknown) => {
      this.#logger.warn({ task: task.id, err: error }, 'task of an agent not kept');
      return true;
    });
    if (!kept) throw new RpcFault('invalid_request', 'The task was answered or canceled in the meantime');
  }
}

/**
 * The skill that a message is about: from its data, else from its text. Throws if the data asks for something
 * that does not exist.
 */
function wanted({ parts }: Message): { skill: Skill | undefined; limit: number | undefined } {
  for (const part of parts) {
    if (part.kind !== 'data' || part.data.skill === undefined) continue;
    const { skill: id, limit } = part.data;
    if (limit !== undefined && !Limit.safeParse(limit).success)
      throw new RpcFault('invalid_params', `limit must be a whole number from 1 to ${maxLimit}`);
    return { skill: skills.find((one) => one.id === id), limit: limit as number | undefined };
  }
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
  return { skill: skillOf(text), limit: undefined };
}

/** What can be asked, for an agent that asked for something else. */
function choice(ids: { id: string; contextId: string }): Message {
  const list = skills.map(({ id, description }) => `${id}: ${description}`).join('\n');
  return fromAgent(ids, [
    { kind: 'text', text: `Say which of these you want:\n${list}` },
    { kind: 'data', data: { skills: skills.map(({ id }) => id) } },
  ]);
}

function fromAgent({ id, contextId }: { id: string; contextId: string }, parts: Message['parts']): Message {
  return { kind: 'message', messageId: randomUUID(), role: 'agent', parts, taskId: id, contextId };
}

/** A task with the last `length` messages of its history. */
function shortened(task: Task, length: number | undefined): Task {
  return length === undefined ? task : { ...task, history: length === 0 ? [] : task.history.slice(-length) };
}

function parsed<S extends z.ZodType>(
  schema: S,
  input: unknown,
  kind: 'invalid_request' | 'invalid_params' = 'invalid_params',
): z.output<S> {
  try {
    return parseInput(schema, input);
  } catch (error) {
    if (!isExpected(error)) throw error;
    const details = error.kind === 'refusal' ? error.extra.details : undefined;
    throw new RpcFault(kind, error.message, details);
  }
}

import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** How the models of a query reach their answers. */
export const strategies = ['consensus', 'debate', 'roundtable'] as const;
export type Strategy = (typeof strategies)[number];

/** Who may read a query: everybody, everybody who knows its id, or its owner. */
export const visibilities = ['public', 'private', 'unlisted'] as const;
export type Visibility = (typeof visibilities)[number];

/** The state of a query. */
export const queryStatuses = ['queued', 'running', 'synthesizing', 'completed', 'failed'] as const;
export type QueryStatus = (typeof queryStatuses)[number];

const query_id = z.string();
/** From 1; the synthesis is round 0. */
const round = z.int().min(0);
/** From 1; 0 where the model was not asked at all. */
const attempt = z.int().min(0);
/** An amount of money in billionths of a US dollar: whole numbers add up the same in any order. */
const nanoUsd = z.int().min(0);

/** What is asked of several models at once, what each of them answered, what it cost, and what came of it. */
export const deliberation = defineStream({
  name: 'DELIBERATION',
  description:
    'What is asked of several models at once, what each of them answered, what it cost, and what came of it.',
  subjects: ['deliberation.>'],
  facts: {
    'query.created': z.object({
      query_id,
      /** Name of the key whose holder asks, and who pays. */
      owner: z.string(),
      prompt: z.string(),
      system_prompt: z.string().nullable(),
      /** Ids of the models, in the order in which they speak. */
      models: z.array(z.string()).min(1),
      /** Id of the model that combines the answers. */
      synthesizer: z.string(),
      strategy: z.enum(strategies),
      rounds: z.int().min(1),
      /** Tokens that one answer may have. */
      max_tokens: z.int().min(1),
      temperature: z.number().nullable(),
      visibility: z.enum(visibilities),
      /** What all calls together may cost. */
      ceiling_nano_usd: nanoUsd,
    }),
    'query.started': z.object({ query_id }),
    /** A model is about to be asked. Without an answer or a failure after it, the result is unknown. */
    'model.asked': z.object({
      query_id,
      round,
      model: z.string(),
      attempt,
      /** Unique for this attempt: a repeated append, made because its answer was lost, finds its own fact. */
      ask_id: z.string(),
      /** What it costs at most. */
      worst_nano_usd: nanoUsd,
      /** Counted cost of the attempt before, whose answer was lost; 0 without such an attempt. */
      lost_nano_usd: nanoUsd,
    }),
    'response.received': z.object({
      query_id,
      round,
      model: z.string(),
      attempt,
      content: z.string(),
      /** Why the model ended, in its provider's words: `stop`, `length`, … */
      finish: z.string(),
      tokens: z.object({ in: z.int().min(0), out: z.int().min(0) }),
      cost_nano_usd: nanoUsd,
      /** Whether tokens and costs are our own count, because the provider did not say. */
      estimated: z.boolean(),
      /** Time from the call to the end of the answer, in milliseconds. */
      ms: z.number(),
    }),
    'response.failed': z.object({
      query_id,
      round,
      model: z.string(),
      attempt,
      /** Stable code of what went wrong. */
      code: z.string(),
      /** What the provider said of it: for operators, not for callers. */
      message: z.string(),
      /** Whether the model is not asked again in this round. */
      final: z.boolean(),
      /** What it may have cost; 0 where the provider refused before it began. */
      cost_nano_usd: nanoUsd,
      ms: z.number(),
    }),
    /** Something that later calls are told besides the prompt. */
    'context.injected': z.object({ query_id, content: z.string() }),
    'synthesis.completed': z.object({
      query_id,
      model: z.string(),
      consensus: z.string(),
      /** From 0, they contradict each other, to 1, they agree; `null` where the model did not say. */
      agreement: z.number().min(0).max(1).nullable(),
      /** What was held against the consensus. */
      dissent: z.array(z.string()),
    }),
    'query.completed': z.object({ query_id }),
    'query.failed': z.object({ query_id, code: z.string(), message: z.string() }),
    'visibility.changed': z.object({ query_id, visibility: z.enum(visibilities) }),
  },
});

export type DeliberationFact = FactOf<typeof deliberation>;
/** The data of one type of fact. */
export type DeliberationData<Type extends DeliberationFact['type']> = Extract<
  DeliberationFact,
  { type: Type }
>['data'];

/** Whether a text can be the id of a query: it becomes part of a subject. */
export function isQueryId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/**
 * Subject of a query: what it may still cost, and which answers count, is decided per query. Its id is a
 * UUID. Whoever knows the id may read an unlisted query, so it must not be guessed.
 */
export function querySubject(id: string): string {
  return `deliberation.${id}`;
}

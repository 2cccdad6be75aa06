import type { About } from '../core/projection.js';

/** What people are told of the tables of deliberations. */
export const aboutDeliberations: About = {
  queries: {
    says: 'Queries to several models.',
    columns: {
      id: 'Id of the query.',
      n: 'Sequence of its creation in the stream DELIBERATION.',
      owner: 'Name of the key whose holder asks.',
      visibility: 'Who may read it.',
      status: 'One of queued, running, synthesizing, completed or failed.',
      strategy: 'How the models are asked.',
      models: 'Ids of the models, in the order in which they speak.',
      rounds: 'How many rounds.',
      prompt: 'What is asked.',
      ceiling: 'What all calls together may cost, in billionths of a US dollar.',
      injections: 'How often later calls were told something more.',
      created_at: 'When it was asked.',
      started_at: 'When a worker began.',
      completed_at: 'When it had its result.',
      error: 'Why it failed.',
      consensus: 'What the models agree on.',
      agreement: 'From 0, they contradict each other, to 1, they agree.',
      dissent: 'What was held against the consensus.',
    },
    json: ['models', 'dissent'],
  },
  calls: {
    says: 'Calls of models, one row for each model and round.',
    columns: {
      query_id: 'Id of the query.',
      round: 'From 1; 0 is the synthesis.',
      model: 'Id of the model.',
      attempts: 'How often it was asked.',
      ended_seq: 'Sequence of its answer or its final failure.',
      content: 'What it answered.',
      finish: 'Why it ended, in the words of its provider.',
      error: 'Code of its failure.',
      ms: 'Milliseconds from the call to the end of the answer.',
      tokens_in: 'Tokens that the model read.',
      tokens_out: 'Tokens that it wrote.',
      cost: 'What that cost, in billionths of a US dollar.',
      estimated: 'The part of the cost that no provider stated.',
    },
  },
  models: {
    says: 'Sums of each model over all queries.',
    columns: {
      model: 'Id of the model.',
      attempts: 'How often it was asked.',
      answers: 'How often it answered.',
      failures: 'How often it did not.',
      tokens_in: 'Tokens that the model read.',
      tokens_out: 'Tokens that it wrote.',
      cost: 'What that cost, in billionths of a US dollar.',
      estimated: 'The part of the cost that no provider stated.',
    },
  },
  statuses: {
    says: 'How many queries have a status.',
    columns: {
      status: 'As in queries.',
      queries: 'Queries with it now.',
    },
  },
};

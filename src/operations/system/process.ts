import { z } from 'zod';
import { text } from '../core/fields.js';
import { defineForOperators, defineOperation } from '../core/operation.js';
import { scope } from '../core/rights.js';

/** What a process tells of itself. */
export interface ProcessParts {
  process: {
    /** What it is and where its parts are, without credentials. */
    about: { version: string; roles: string[] } & Record<string, unknown>;
    /** Its metrics in the text format of Prometheus. */
    metrics(): Promise<{ type: string; text: string }>;
  };
}

/** What this process is and where its parts are. */
export const describeService = defineForOperators('describeService', {
  summary: 'What this process is and where its parts are',
  says: 'Addresses without credentials',
  output: z.object({
    version: text('1.1.0'),
    roles: z.array(text('api')),
    data: text('/srv/data').describe('Its data directory'),
    nats: text('nats://127.0.0.1:4222'),
    sql: text('/srv/data/pg'),
    irc: text('').describe('Empty in a process that has nothing to do with IRC'),
  }),
  http: { method: 'get', path: '/ops/service' },
  run: async (_input, _caller, { process }: ProcessParts) => process.about,
});

/** Metrics for Prometheus, which asks from this machine or with an API key. */
export const getMetrics = defineOperation('getMetrics', {
  tag: 'System',
  summary: 'Metrics in the text format of Prometheus',
  access: scope('operate', { without: 'local' }),
  answers: {
    200: {
      says: 'Metrics',
      type: 'text/plain',
      body: { schema: text('relay_log_connected 1') },
    },
  },
  http: {
    method: 'get',
    path: '/metrics',
    inEveryRole: true,
    send: (reply, { type, text }: { type: string; text: string }) => reply.type(type).send(text),
  },
  run: async (_input, _caller, { process }: ProcessParts) => await process.metrics(),
});

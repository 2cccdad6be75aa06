import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** The calls that change something at the task marketplace, made with somebody else's money. */
export const audit = defineStream({
  name: 'AUDIT',
  description: "The calls that change something at the task marketplace, made with somebody else's money.",
  subjects: ['audit.>'],
  facts: {
    /** A call is about to be made. Without an end after it, the result is unknown. */
    'call.started': z.object({
      /** Who asked for it: the name of a key, or `irc:` and the nick of the one who claimed a task there. */
      actor: z.string(),
      method: z.string(),
      /** The requested path, without the query: `/em/tasks/42/approve`. */
      path: z.string(),
      /** The task that it is about, if the call says so. */
      task_id: z.string().nullable(),
      request_id: z.string(),
      /** Hex SHA-256 of the body's bytes. */
      body_sha256: z.string(),
    }),
    'call.ended': z.object({
      /** Sequence of the fact that started it. */
      call: z.int().positive(),
      /** The status that the caller got. A 502 does not rule out that the marketplace acted. */
      status: z.int(),
      /** Time that the marketplace took, in milliseconds. */
      ms: z.number(),
      /** Stable code of what went wrong on the way; `null` where the marketplace answered. */
      error: z.string().nullable(),
    }),
  },
});

export type AuditFact = FactOf<typeof audit>;

/** Subject of all audited calls. Nothing is decided by them; they stay in the order they came in. */
export const auditSubject = 'audit.marketplace';

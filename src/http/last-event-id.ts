import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../streams/core/index.js';

/**
 * The last event that a reader of server-sent events has seen: browsers send it when they reconnect, or it is
 * `after` of the query. `undefined` without either. Throws a 400 if it is not the id of such an event.
 */
export function lastEventId(request: FastifyRequest, isId: (text: string) => boolean): string | undefined {
  const { after } = request.query as { after?: unknown };
  const header = request.headers['last-event-id'];
  const [path, given] = header ? ['last-event-id', header] : ['after', after];
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && isId(given)) return given;
  const message = `${path} must be the id of an event of this stream, like 42-0`;
  throw new Refusal('validation_failed', message, { details: [{ path, message }] });
}

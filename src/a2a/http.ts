import type { FastifyError, FastifyInstance } from 'fastify';
import { parse } from 'secure-json-parse';
import { errorAnswer, retryAfterOf } from '../http/errors.js';
import { refuseOtherMethods } from '../http/other-methods.js';
import type { Agent } from './agent.js';
import { a2aPath } from './card.js';
import { faultAnswer, RpcFault } from './protocol.js';

/** `POST /a2a/v1`: questions of other agents, as JSON-RPC 2.0. Errors are answered in its form. */
export async function a2aRoutes(app: FastifyInstance, { agent }: { agent: Agent }): Promise<void> {
  await app.register(async (scope) => {
    // what cannot be parsed has an answer of its own here, and clients send what they like as its type
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      const known = errorAnswer(error);
      if (!known) request.log.error({ err: error, request_id: request.id }, 'request failed');
      const retryAfter = retryAfterOf(error);
      if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
      const fault = known
        ? new RpcFault('refused', known.body.error, { code: known.body.code })
        : new RpcFault('internal', 'Something went wrong on our side');
      return reply.code(known?.status ?? 200).send(faultAnswer(null, fault));
    });
    scope.post(a2aPath, async (request) => {
      let asked: unknown;
      try {
        asked = parse(String(request.body ?? ''), null, { protoAction: 'error', constructorAction: 'error' });
      } catch {
        return faultAnswer(null, new RpcFault('unparsable', 'The body is not JSON'));
      }
      return await agent.answer(asked);
    });
    // the card is served at the same place
    const allowed = ['GET', 'HEAD', 'POST'];
    refuseOtherMethods(scope, { url: a2aPath, allowed }, ({ method }, reply) => {
      const says = `${method} is not possible here`;
      return reply.send(faultAnswer(null, new RpcFault('refused', says, { code: 'method_not_allowed' })));
    });
  });
}

import type { FastifyInstance } from 'fastify';
import { parse } from 'secure-json-parse';
import { Refusal } from '../../streams/core/index.js';
import { sendRpcError } from '../http/json-rpc.js';
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
    scope.setErrorHandler((error, request, reply) => sendRpcError(error, request, reply, null));
    scope.post(a2aPath, async (request) => {
      let asked: unknown;
      try {
        asked = parse(String(request.body ?? ''), null, { protoAction: 'error', constructorAction: 'error' });
      } catch {
        return faultAnswer(null, new RpcFault('parse_error', 'The body is not JSON'));
      }
      return await agent.answer(asked, request.ip);
    });
    // the card is served at the same place
    const allowed = ['GET', 'HEAD', 'POST'];
    refuseOtherMethods(scope, { url: a2aPath, allowed }, (request, reply) => {
      const refusal = new Refusal('method_not_allowed', `${request.method} is not possible here`);
      return sendRpcError(refusal, request, reply, null);
    });
  });
}

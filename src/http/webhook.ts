import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import type { RefusalCode } from '../../streams/refusals.js';
import {
  type SignatureFault,
  type SignatureScheme,
  type Verified,
  verifyQuestion,
  verifyWebhook,
} from '../auth/webhook-signature.js';
import { type Call, inputOf, nobody } from '../operations/core/call.js';
import { receiveEvent } from '../operations/events/index.js';
import { getEventReceipt, producerActor } from '../operations/events/receipt.js';
import { ofTimestamped } from '../operations/events/signed.js';
import { errorAnswer } from './errors.js';
import { ignoredTeller, senderOf, urlOf } from './operations.js';

/** Who posts events: a secret, and the `source` that it speaks as where that is settled. */
export interface Producer {
  secret: string;
  source?: string;
}

/** What the webhook receiver works with. */
export interface WebhookOptions {
  call: Call;
  /** Who may post, by the secrets that they share with us; with none, every event is answered 503. */
  producers: readonly Producer[];
  schemes: SignatureScheme[];
  /** Told how each posted event was answered: its status, or the code of its error. */
  observe?: (answer: { status: string } | { code: string }) => void;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Where the marketplace posts its signed events, and asks what became of them. */
export async function webhookRoutes(app: FastifyInstance, options: WebhookOptions): Promise<void> {
  const { call, producers, schemes, observe } = options;
  const secrets = producers.map(({ secret }) => secret);
  const named = new Map(producers.flatMap(({ secret, source }) => (source ? [[secret, source]] : [])));
  const names = new Set(named.values());
  const event = receiveEvent.http!;
  const receipt = getEventReceipt.http!;
  const send = senderOf(receiveEvent, event);
  const sendReceipt = senderOf(getEventReceipt, receipt);
  const tellIgnored = ignoredTeller({ query: event.query ?? [] });

  await app.register(async (scope) => {
    // the signature is over the bytes, so this route gets them as they came
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );

    if (secrets.length === 0)
      scope.addHook('preHandler', async () => {
        throw new Unavailable('webhook_secret_not_configured');
      });

    scope.addHook('onError', async (request, _reply, error) => {
      if (dryRunOf(request) !== true) observe?.({ code: errorAnswer(error)?.body.code ?? 'internal_error' });
    });

    // a producer with a valid signature is never turned away by the rate limit; guesses are
    const limitGuesses = 'createRateLimit' in scope ? scope.createRateLimit() : undefined;

    scope.post(urlOf(event), { config: { rateLimit: false } }, async (request, reply) => {
      tellIgnored(request, reply);
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const verified = verifyWebhook({ raw, ...shownBy(request) }, { secrets, schemes, now: new Date() });
      if (verified.fault) throw await refusalOf(request, verified, 'event_signature_invalid');
      const input = inputOf(receiveEvent, given(parseBody(raw), request));
      if (names.size > 0) {
        const source = named.get(verified.secret);
        if (source === undefined ? names.has(input.source) : source !== input.source)
          throw new Refusal('source_not_yours');
      }
      const answer = await call(receiveEvent, input, nobody);
      if (answer.status !== 'dry_run')
        observe?.({ status: answer.status === 'ignored' ? answer.reason : answer.status });
      return send(reply, answer);
    });

    scope.get(urlOf(receipt), async (request, reply) => {
      const input = inputOf(getEventReceipt, request.params);
      const question = { about: input.event_id, ...shownBy(request) };
      const verified = verifyQuestion(question, { secrets, schemes, now: new Date() });
      if (verified.fault) throw await refusalOf(request, verified, 'receipt_signature_invalid');
      const caller = { ...nobody, actor: producerActor(named.get(verified.secret)) };
      return sendReceipt(reply, await call(getEventReceipt, input, caller));
    });

    async function refusalOf(
      request: FastifyRequest,
      { fault, scheme }: Extract<Verified, { fault: SignatureFault }>,
      ofSignature: RefusalCode,
    ): Promise<Refusal> {
      const limit = await limitGuesses?.(request);
      if (limit && !limit.isAllowed && limit.isExceeded)
        return new Refusal('rate_limited', 'Too many requests with a wrong signature');
      const name = fault === 'signature_invalid' ? ofSignature : fault;
      const { says, hint } = (scheme === 'timestamped' && ofTimestamped[name]) || {};
      return new Refusal(name, says, hint === undefined ? {} : { hint });
    }
  });
}

const shownBy = ({ headers }: FastifyRequest) => ({
  signature: header(headers['x-em-signature']),
  timestamp: header(headers['x-em-timestamp']),
});

function parseBody(raw: Buffer): unknown {
  try {
    return parse(utf8.decode(raw), null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    throw new Refusal(
      'invalid_event',
      `The body is not a JSON event: ${(error as Error).message.slice(0, 200)}`,
      { hint: 'Send one JSON object in UTF-8: /producers.md shows one' },
    );
  }
}

/** The input of the operation: what was signed, and in the query whether it is only tried out. */
function given(event: unknown, request: FastifyRequest): unknown {
  if (typeof event !== 'object' || event === null) return event;
  return Object.assign(event, { dry_run: dryRunOf(request) });
}

// what is neither is left for the schema to refuse, and so is another spelling: nobody's test is to become an event
function dryRunOf({ query }: FastifyRequest): unknown {
  const given = query as Record<string, unknown>;
  if (Object.keys(given).some((name) => name !== 'dry_run' && /^dry.?run$/i.test(name)))
    return 'another spelling';
  const { dry_run } = given;
  return dry_run === 'true' ? true : dry_run === 'false' ? false : dry_run;
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

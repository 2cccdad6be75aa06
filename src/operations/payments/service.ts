import type { Logger } from 'pino';
import { z } from 'zod';
import { activeSlots, liveSessions } from '../../../projections/payments/queries.js';
import { type Log, type Position, Refusal, Unavailable } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { Chain } from '../../../workers/payments/chain.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { Nick, nickKey } from '../core/names.js';
import { parseInput } from '../core/validation.js';
import { Access, type Entered } from './access.js';
import { answerGrant, answerUnpaid, type Till } from './answers.js';
import type { Facilitator } from './facilitator.js';
import { accessTo, offersFor } from './offers.js';
import type { PaidChannel } from './paid-channels.js';
import { matchProof, type Presented, readProof } from './proof.js';

/** Headers with proofs of payment, the first one counts, and those that answer them. */
const proofHeaders = ['payment-signature', 'x-payment'] as const;
const answerHeaders = ['payment-required', 'payment-response', 'x-payment-response', 'cache-control'];

export const turnstileRoutes = {
  channels: { method: 'GET', path: '/api/channels' },
  channel: { method: 'GET', path: '/api/channels/:channel' },
  access: { method: 'POST', path: '/api/access/:channel', headers: [...proofHeaders, ...answerHeaders] },
  sessions: { method: 'GET', path: '/api/sessions/:nick' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the payment gateway works with. */
export interface TurnstileOptions {
  log: Log;
  readModels: ReadModels;
  channels: readonly PaidChannel[];
  /** Where payments go, by network. */
  payTo: ReadonlyMap<string, string>;
  /** Without it nothing can be paid. */
  facilitator: Facilitator | undefined;
  chain: Chain | undefined;
  /** Tells which of the nicks are on IRC now. Throws `irc_unavailable`. */
  online(nicks: string[]): Promise<string[]>;
  /** Brings somebody in again whose session lasts; the first time a worker does that. */
  admit(place: { channel: string; nick: string }): Promise<unknown>;
  /** Base address of the public API. */
  publicUrl: string;
  logger: Logger;
  startedAt: Date;
}

/** The contract’s body of paid access. */
export const AccessBody = z.object({ nick: Nick });
/** In which version a price is asked for. */
export const AccessQuery = z.object({ x402Version: z.string().optional() });

/** The payment gateway: what channels cost, who is in them for how long, and the way in by an x402 payment. */
export function createTurnstile(options: TurnstileOptions): Service<typeof turnstileRoutes> {
  const { log, readModels, facilitator, chain, payTo, logger } = options;
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  const rows = new OwnReadModel(readModels, 'payments');
  const wrote = (position: Position) => rows.wrote(position);
  const access = facilitator && new Access({ log, facilitator, chain, logger, wrote });

  const taken = () => rows.read((sql, schema) => activeSlots(sql, schema, log.now()));

  function channelOf({ params }: Input): PaidChannel {
    const channel = channels.get(casefold(`#${(params?.channel ?? '').replace(/^#/, '')}`));
    if (!channel) throw new Refusal('not_found', 'Paid channel not found');
    return channel;
  }

  async function tillOf(channel: PaidChannel, version: 1 | 2): Promise<Till> {
    if (!facilitator) throw notConfigured();
    const offers = offersFor(channel, payTo, await facilitator.supported());
    if (offers.length === 0) throw notConfigured();
    const resource = accessTo(options.publicUrl, channel.name, channel.description);
    return { version, offers, resource };
  }

  async function enter(channel: PaidChannel, till: Till, presented: Presented, input: Input): Promise<Reply> {
    const { nick } = parseInput(AccessBody, input.body);
    const [there] = await options.online([nick]);
    if (there === undefined) {
      throw new Refusal('nick_not_on_irc');
    }
    const proof = matchProof(presented, till.offers);
    if (!proof || !access) {
      const error = 'The payment is for none of the ways to pay for this channel';
      return answerUnpaid(till, { code: 'payment_mismatch', error });
    }
    let entered: Entered;
    try {
      entered = await access.enter({ channel, nick, proof, resource: till.resource });
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code !== 'payment_spent') throw error;
      return answerUnpaid(till, { code, error: message }, proof);
    }
    if (entered.is === 'invalid')
      return answerUnpaid(till, { code: 'payment_invalid', error: entered.reason }, proof);
    if (entered.is === 'refused') {
      const { reason: error, transaction } = entered;
      return answerUnpaid(till, { code: 'settlement_failed', error, transaction }, proof);
    }
    const { session, isNew } = entered;
    if (!isNew) {
      // who lost the connection comes back in with what was paid already
      options
        .admit({ channel: channel.name, nick: session.nick })
        .catch((error: Error) =>
          logger.info({ channel: channel.name, error: error.message }, 'not admitted again'),
        );
    }
    return answerGrant(session, proof);
  }

  return {
    channels: async () => {
      const slots = await taken();
      return ok({ channels: options.channels.map((channel) => channelView(channel, slots)) });
    },
    channel: async (input = {}) => ok(channelView(channelOf(input), await taken())),
    access: async (input = {}) => {
      const channel = channelOf(input);
      const { x402Version } = parseInput(AccessQuery, input.query ?? {});
      const header = proofHeaders.map((name) => input.headers?.[name]).find((value) => value !== undefined);
      const till = await tillOf(channel, x402Version === '1' ? 1 : 2);
      if (header !== undefined) return await enter(channel, till, readProof(header), input);
      return answerUnpaid(till, { code: 'payment_required', error: 'Payment required' });
    },
    sessions: async (input = {}) => {
      const nick = nickKey(input);
      const sessions = await rows.read((sql, schema) => liveSessions(sql, schema, log.now(), nick));
      return ok({ nick, sessions });
    },
    health: async () => {
      const reachable = facilitator && channels.size > 0 ? await facilitator.reachable() : false;
      const isDegraded = channels.size > 0 && !reachable;
      return ok({
        status: isDegraded ? 'degraded' : 'ok',
        ...(isDegraded ? { reason: troubleOf(facilitator) } : {}),
        facilitator: { url: facilitator?.place ?? null, reachable },
        channels: channels.size,
        uptime: Math.round((Date.now() - options.startedAt.getTime()) / 1000),
      });
    },
  };
}

/** Why nothing can be paid. */
function troubleOf(facilitator: Facilitator | undefined): string {
  return facilitator
    ? `the payment facilitator ${facilitator.place} does not answer as one`
    : 'channels cost something and X402_FACILITATOR_URL is not set';
}

const ok = (body: unknown): Reply => ({ status: 200, body });

function channelView(channel: PaidChannel, slots: ReadonlyMap<string, number>) {
  const { name, price, currency, networks, durationSeconds, maxSlots, description } = channel;
  return {
    ...{ name, price, currency, network: networks[0], networks, durationSeconds, maxSlots },
    ...{ activeSlots: slots.get(name) ?? 0, description },
  };
}

function notConfigured(): Unavailable {
  return new Unavailable('payments_not_configured');
}

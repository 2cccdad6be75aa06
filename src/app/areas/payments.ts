import { looksLikeAny } from '../../../streams/nick-looks.js';
import { createBans, createHolders } from '../../../workers/channels/index.js';
import { AdmitPayers, admit } from '../../../workers/payments/admission/index.js';
import { Chain } from '../../../workers/payments/chain.js';
import { Facilitator } from '../../../workers/payments/facilitator.js';
import { fateOf } from '../../../workers/payments/fates.js';
import { termsOf } from '../../../workers/payments/paid-channel.js';
import { ResolvePayments } from '../../../workers/payments/resolution/index.js';
import { UnsettledLimit } from '../../auth/unsettled-limit.js';
import { keptNicks } from '../../config/bot-nicks.js';
import { createGateway } from '../../operations/payments/parts.js';
import { unresolvedIn } from '../../operations/payments/unresolved.js';
import { leased } from '../bots/leased.js';
import { readUnresolved } from '../gauges/payments.js';
import type { Area, AreaParts } from './area.js';

/**
 * Paid channels: their prices, the way in by payment, the admission and removal of nicks, and the fate of
 * payments.
 */
export function paymentsArea(
  parts: Pick<AreaParts, 'config' | 'log' | 'logger' | 'readModels' | 'channels' | 'holder'>,
): Area {
  const { config, log, logger, readModels, channels } = parts;
  const { X402_FACILITATOR_URL: url, CHAIN_RPC_URL: rpcUrl, PUBLIC_URL: publicUrl } = config;
  const { PAID_CHANNELS: paidChannels } = config;
  const kept = keptNicks(config);
  const isKept = (nick: string) => looksLikeAny(nick, kept);
  const facilitator = url === '' ? undefined : new Facilitator({ url });
  const chain = rpcUrl === '' ? undefined : new Chain(rpcUrl);
  const payments = createGateway({
    log,
    logger,
    readModels,
    facilitator,
    chain,
    channels: paidChannels,
    payTo: config.X402_PAY_TO,
    unsettled: new UnsettledLimit({ log, replicas: config.NATS_REPLICAS }),
    isBanned: createBans(log),
    holderOf: createHolders(log),
    isKept,
    admit: (place) => admit(channels, place),
    publicUrl,
  });
  const admission = leased(
    config,
    parts,
    'admit-payers',
    () =>
      new AdmitPayers({
        log,
        logger,
        channels,
        isKept,
        rooms: paidChannels.map(({ name, description }) => ({ name, topic: description })),
        read: (query, after) => readModels.read('payments', query, after),
        readAt: (query, after) => readModels.readAt('payments', query, after),
      }),
  );
  const resolution = leased(
    config,
    parts,
    'resolve-payments',
    () =>
      new ResolvePayments({
        log,
        logger,
        places: paidChannels.map((channel) => ({ ...channel, terms: termsOf(channel) })),
        fateOf: (intended) => fateOf(intended, { chain, facilitator, publicUrl }, log.now()),
        read: (query, after) => readModels.read('payments', query, after),
      }),
  );
  const unresolved = () => unresolvedIn(readModels, log.now());
  return {
    parts: { payments },
    workers: [admission, resolution],
    gauged: [{ role: 'workers', part: 'payments', read: () => readUnresolved(unresolved) }],
  };
}

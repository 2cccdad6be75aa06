import type { Logger } from 'pino';
import type { Log } from '../../../streams/core/index.js';
import type { Holder } from '../../../streams/payments/index.js';
import { Access, type Unsettled } from '../../../workers/payments/access.js';
import type { Chain } from '../../../workers/payments/chain.js';
import type { Facilitator } from '../../../workers/payments/facilitator.js';
import type { PaidChannel } from '../../../workers/payments/paid-channel.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';

/** What the payment gateway is put together from. */
export interface GatewayOptions {
  log: Log;
  readModels: ReadModels;
  channels: readonly PaidChannel[];
  /** Where payments go, by network. */
  payTo: ReadonlyMap<string, string>;
  /** Without it nothing can be paid. */
  facilitator: Facilitator | undefined;
  chain: Chain | undefined;
  unsettled: Unsettled;
  /** Whether moderation keeps a nick out of a channel (with `#`). Throws `irc_unavailable`. */
  isBanned(channel: string, nick: string): Promise<boolean>;
  /** Tells who has a nick on IRC now; null if nobody has it. Throws `irc_unavailable`. */
  holderOf(nick: string): Promise<Holder | null>;
  /** Whether a nick is reserved for a bot or a service, or could be taken for one of them. */
  isKept(nick: string): boolean;
  /** Brings somebody in again whose session lasts; the first time a worker does that. */
  admit(place: { channel: string; nick: string; holder: Holder }): Promise<unknown>;
  /** Base address of the public API. */
  publicUrl: string;
  logger: Logger;
}

/** What the operations of payments work with. */
export interface PaymentsParts {
  log: Log;
  readModels: ReadModels;
  logger: Logger;
  startedAt: Date;
  payments: Omit<GatewayOptions, 'log' | 'readModels' | 'logger' | 'chain' | 'unsettled' | 'isBanned'> & {
    rows: OwnReadModel;
    /** The way in; none without a facilitator. */
    access: Access | undefined;
  };
}

/** Puts the payment gateway together. */
export function createGateway(options: GatewayOptions): PaymentsParts['payments'] {
  const { log, logger, readModels, chain, unsettled, isBanned, ...gateway } = options;
  const { facilitator } = gateway;
  const rows = new OwnReadModel(readModels, 'payments');
  const wrote = rows.wrote.bind(rows);
  const access = facilitator && new Access({ log, facilitator, chain, unsettled, isBanned, logger, wrote });
  return { ...gateway, rows, access };
}

import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types';
import { isEvm, networks, type PaymentNetwork } from './networks.js';
import type { PaidChannel } from './paid-channel.js';

/** What a facilitator can do. */
export interface Supported {
  /** The versions of the protocol in which it takes payments of a scheme on a network; none when it does not. */
  versions(network: PaymentNetwork, scheme: string): (1 | 2)[];
  /** What it wants to have said about such payments. */
  extra(network: PaymentNetwork, scheme: string): Record<string, unknown>;
}

/** One way in which a channel may be paid for. */
export interface Offer {
  network: PaymentNetwork;
  requirement: PaymentRequirements;
  /** The versions of the protocol in which the facilitator takes it. */
  versions: readonly (1 | 2)[];
}

/** How long a payment may take, in seconds, from the offer to the end of its validity. */
const maxTimeoutSeconds = 300;
const scheme = 'exact';

/** The ways to pay for a channel: on its networks, where there is somebody to pay to and the facilitator can settle. */
export function offersFor(
  channel: PaidChannel,
  payTo: ReadonlyMap<string, string>,
  supported: Supported,
): Offer[] {
  return networks.flatMap((network) => {
    const address = payTo.get(network.id);
    if (!channel.networks.includes(network.id) || address === undefined) return [];
    const offer = offerOn(network, address, channel.amount, supported);
    return offer ? [offer] : [];
  });
}

/** The way to pay an amount, in the token's smallest unit, on a network; `undefined` where the facilitator cannot settle. */
export function offerOn(
  network: PaymentNetwork,
  payTo: string,
  amount: string,
  supported: Supported,
): Offer | undefined {
  const versions = supported.versions(network, scheme);
  if (versions.length === 0) return undefined;
  // who pays the fees on Solana is part of what is signed there
  const extra = isEvm(network.id) ? {} : supported.extra(network, scheme);
  const requirement = {
    scheme,
    network: network.id as PaymentRequirements['network'],
    amount,
    asset: network.asset,
    payTo,
    maxTimeoutSeconds,
    extra: { ...extra, ...network.domain },
  };
  return { network, requirement, versions };
}

/** What is paid for. */
export interface Resource {
  url: string;
  description: string;
}

/** The way into a channel (with `#`) as what is paid for; `publicUrl` is the base address of the API. */
export function accessTo(publicUrl: string, channel: string, description: string): Resource {
  return { url: `${publicUrl.replace(/\/$/, '')}/payments/access/${channel.slice(1)}`, description };
}

/** The requirement of an offer in version 1 of the protocol. */
export function requirementV1({ network, requirement }: Offer, { url, description }: Resource) {
  const { amount: maxAmountRequired, scheme, payTo, asset, extra, maxTimeoutSeconds } = requirement;
  return {
    scheme,
    network: network.v1 ?? '',
    maxAmountRequired,
    resource: url,
    description,
    mimeType: 'application/json',
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
  };
}

/** Asks for payment: the body of a 402 and its headers, in the version that the caller reads. */
export function askForPayment(
  version: 1 | 2,
  offers: readonly Offer[],
  resource: Resource,
  { error, code }: { error: string; code: string },
): { body: Record<string, unknown>; headers: Record<string, string> } {
  if (version === 1) {
    const named = offers.filter(({ network, versions }) => network.v1 !== undefined && versions.length > 0);
    const accepts = named.map((offer) => requirementV1(offer, resource));
    return { body: { x402Version: 1, error, accepts, code }, headers: {} };
  }
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: { ...resource, mimeType: 'application/json' },
    accepts: offers.map(({ requirement }) => requirement),
  };
  return {
    body: { ...required, status: 402, code },
    headers: { 'payment-required': encodePaymentRequiredHeader(required) },
  };
}

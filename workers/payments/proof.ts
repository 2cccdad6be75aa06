import { z } from 'zod';
import { Refusal } from '../../streams/core/index.js';
import { paymentId } from '../../streams/payments/index.js';
import { isEvm } from './networks.js';
import type { Offer } from './offers.js';
import { canonicalMessage } from './solana-message.js';

/** A proof of payment as it was presented, before it is matched with an offer. */
export interface Presented {
  /** The version of the x402 protocol, as the payload says. */
  version: 1 | 2;
  scheme: string;
  /** CAIP-2, or a name of version 1. */
  network: string;
  /** What version 2 says it accepted; `extra.feePayer` is who pays the fees on Solana. */
  accepted:
    | { asset: string; payTo: string; amount: string; extra?: { feePayer?: string | undefined } | undefined }
    | undefined;
  payload: Record<string, unknown>;
}

/** A proof of payment for one of our offers, in one form for all versions. */
export interface Proof {
  /** The same for everything that can move the same money. */
  id: string;
  offer: Offer;
  version: 1 | 2;
  /** The payer's address, if the payload says it. */
  payer: string;
  /** Of the authorization; null if the network does not use one. */
  nonce: string | null;
  /** When the authorization expires, in seconds of Unix time; null if the network does not say. */
  validBefore: number | null;
  /** As facilitators expect it. */
  payload: Record<string, unknown>;
}

const Text = z.union([z.string(), z.number().int().nonnegative().transform(String)]);
const Accepted = z.object({
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payTo: z.string(),
  amount: Text,
  extra: z
    .object({ feePayer: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
const Body = z.record(z.string(), z.unknown());
const Enveloped = z.object({ x402Version: z.literal(2), accepted: Accepted, payload: Body });
const Flat = z.object({
  x402Version: z.union([z.literal(1), z.literal(2)]),
  scheme: z.string(),
  network: z.string(),
  payload: Body,
});

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^(0x)?[0-9a-fA-F]{${digits}}$`))
    .transform(prefixed);
const Signed = z.object({
  // longer ones are those of contracts that hold the money
  signature: z
    .string()
    .regex(/^(0x)?([0-9a-fA-F]{2}){65,4096}$/)
    .transform(prefixed),
  authorization: z.object({
    from: hex(40),
    to: hex(40),
    value: Text,
    validAfter: Text,
    validBefore: Text,
    nonce: hex(64),
  }),
});
const Transaction = z.object({ transaction: z.string().regex(/^[A-Za-z0-9+/_-]+=*$/) });

/**
 * Reads a header that proves a payment, in any of the forms that clients send. Throws 400
 * `payment_header_invalid`.
 */
export function readProof(header: string): Presented {
  const json = parsed(header);
  const enveloped = Enveloped.safeParse(json);
  if (enveloped.success) {
    const { accepted, payload } = enveloped.data;
    const { scheme, network, ...rest } = accepted;
    return { version: 2, scheme, network, accepted: rest, payload };
  }
  const flat = Flat.safeParse(json);
  if (!flat.success || (json as { accepted?: unknown }).accepted !== undefined) throw invalid();
  const { x402Version: version, scheme, network, payload } = flat.data;
  return { version, scheme, network, accepted: undefined, payload };
}

/** The proof for the offer that it pays; `undefined` if it pays none of ours. */
export function matchProof(presented: Presented, offers: readonly Offer[]): Proof | undefined {
  const { version, scheme, network, accepted } = presented;
  for (const offer of offers) {
    const { requirement } = offer;
    const isNamed = network === requirement.network || (version === 1 && network === offer.network.v1);
    if (scheme !== requirement.scheme || !isNamed) continue;
    if (accepted && !isAccepted(accepted, requirement)) continue;
    const paying = isEvm(requirement.network)
      ? readAuthorization(presented, offer)
      : readTransaction(presented, offer);
    // version 1 is used only with clients that name the network as version 1 does
    if (paying)
      return {
        ...paying,
        version: network === requirement.network ? 2 : 1,
        offer: asSigned(offer, accepted),
      };
  }
  return undefined;
}

/**
 * On Solana the payer of the fees is part of what was signed. A facilitator names another of its accounts
 * each time it is asked. So the account that the payer was offered counts, and the facilitator says whether
 * that account is its own.
 */
function asSigned(offer: Offer, accepted: Presented['accepted']): Offer {
  const { requirement } = offer;
  const feePayer = accepted?.extra?.feePayer;
  if (feePayer === undefined || isEvm(requirement.network)) return offer;
  return { ...offer, requirement: { ...requirement, extra: { ...requirement.extra, feePayer } } };
}

type Paying = Omit<Proof, 'version' | 'offer'>;

function readAuthorization({ payload }: Presented, { requirement }: Offer): Paying | undefined {
  const result = Signed.safeParse(payload);
  if (!result.success) return undefined;
  const { authorization } = result.data;
  const { from, to, value, nonce } = authorization;
  const seconds = Number(authorization.validBefore);
  const validBefore = Number.isFinite(seconds) ? seconds : null;
  if (!isSame(to, requirement.payTo) || value !== requirement.amount) return undefined;
  const id = paymentId(requirement.network, requirement.asset, from, nonce);
  return { id, payer: from, nonce, validBefore, payload: result.data };
}

/** The first byte counts the signatures, of 64 bytes each. The signed message follows them. */
function readTransaction({ payload }: Presented, { requirement }: Offer): Paying | undefined {
  const result = Transaction.safeParse(payload);
  if (!result.success) return undefined;
  const bytes = Buffer.from(result.data.transaction, 'base64');
  const message = bytes.subarray(1 + 64 * (bytes[0] ?? 0));
  if (message.length === 0) return undefined;
  const id = paymentId(requirement.network, canonicalMessage(message).toString('hex'));
  return { id, payer: '', nonce: null, validBefore: null, payload: result.data };
}

function isAccepted(
  accepted: NonNullable<Presented['accepted']>,
  { asset, payTo, amount, network }: Offer['requirement'],
): boolean {
  const same = isEvm(network) ? isSame : (a: string, b: string) => a === b;
  return same(accepted.asset, asset) && same(accepted.payTo, payTo) && accepted.amount === amount;
}

function parsed(header: string): unknown {
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw invalid();
  }
}

function invalid(): Refusal {
  return new Refusal('payment_header_invalid');
}

function prefixed(text: string): string {
  return text.startsWith('0x') ? text : `0x${text}`;
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

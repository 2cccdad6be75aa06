import { encodePaymentResponseHeader } from '@x402/core/http';
import type { SettleResponse } from '@x402/core/types';
import type { Refusal } from '../../../streams/core/index.js';
import type { Granted } from '../../../streams/payments/index.js';
import { askForPayment, type Offer, type Resource } from '../../../workers/payments/offers.js';
import type { Proof } from '../../../workers/payments/proof.js';

/** What a payer is offered: the protocol version they read, how they may pay, and for what. */
export interface Till {
  version: 1 | 2;
  offers: readonly Offer[];
  resource: Resource;
}

/** The answer at the door: a grant or a 402, with the headers that payers read. */
export interface PaymentAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

const noStore = { 'cache-control': 'no-store' };

/** The contract's access grant, with the settlement in the header that the payer reads. */
export function answerGrant(session: Granted, proof: Proof): PaymentAnswer {
  const { channel, nick, expires_at, duration_seconds, session_id, tx_hash, payer } = session;
  const settled = { success: true, transaction: tx_hash, payer };
  return {
    status: 200,
    body: {
      status: 'granted',
      channel,
      nick,
      expiresAt: expires_at,
      durationSeconds: duration_seconds,
      sessionId: session_id,
    },
    headers: { ...noStore, ...settlementHeader(proof, settled) },
  };
}

/**
 * A 402: what to pay, and what was wrong with the payment if there was one. `transaction` says that a
 * settlement was tried; it is empty if none was made.
 */
export function answerUnpaid(
  till: Till,
  { code, message: error }: Refusal,
  { proof, transaction }: { proof?: Proof; transaction?: string } = {},
): PaymentAnswer {
  const { offers, resource } = till;
  const version = proof?.version === 1 ? 1 : till.version;
  const { body, headers } = askForPayment(version, offers, resource, { code, error });
  const failed =
    proof && transaction !== undefined
      ? settlementHeader(proof, { success: false, errorReason: error, transaction, payer: proof.payer })
      : {};
  return { status: 402, body, headers: { ...noStore, ...headers, ...failed } };
}

function settlementHeader(
  { version, offer }: Proof,
  settled: Omit<SettleResponse, 'network'>,
): Record<string, string> {
  const network = (version === 1 ? offer.network.v1 : offer.network.id) as SettleResponse['network'];
  const value = encodePaymentResponseHeader({ ...settled, network });
  // clients of the first version read the older name
  return { 'payment-response': value, ...(version === 1 ? { 'x-payment-response': value } : {}) };
}

import { HTTPFacilitatorClient } from '@x402/core/server';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { clock, within } from '../../streams/core/clock.js';
import { Unavailable } from '../../streams/core/index.js';
import { isEvm, type PaymentNetwork } from './networks.js';
import { type Resource, requirementV1, type Supported } from './offers.js';
import type { Proof } from './proof.js';

/** Whether a payment can be settled; `payer` is empty where the facilitator does not say. */
export type Verified = { is: 'valid'; payer: string } | { is: 'invalid'; reason: string };

/** The outcome of settling. `unsent`: the facilitator was not reached. `unknown`: it may still be settled. */
export type Settled =
  | { is: 'settled'; transaction: string; payer: string }
  | { is: 'refused'; reason: string; transaction: string }
  | { is: 'unsent' | 'unknown'; error: string };

/** How long the facilitator may take for one answer, in milliseconds. */
const patienceMs = 10_000;
/**
 * How long the list of what it supports is valid, in milliseconds, and how long a failed request delays the
 * next one.
 */
const supportedMs = 300_000;
const failedMs = 1_000;
/** Bound of a check whether it is up, in milliseconds. */
const reachableMs = 2_000;
/**
 * Reasons of a payment that is settled at this moment, for an earlier request, or that was sent to the chain and not
 * confirmed in time.
 */
const mayCome = /duplicate_settlement|timed_out/;
/** A hash of a transaction: what has one was sent, and may be settled later, whatever the reason says. */
const hash = { evm: /^0x[0-9a-f]{64}$/i, solana: /./ };
/** On Solana, also the reason for a payment that was sent and not confirmed in time. */
const failedOnSolana = 'transaction_failed';

/** What facilitators say about a used authorization, and about a Solana transaction that is on the chain. */
const used = /already_used|nonce_used|authorization_(is_)?used|already (been )?processed|AlreadyProcessed/;

/**
 * Whether a facilitator's reason says that the authorization was used: the money has moved, or was called
 * back.
 */
export function saysUsed(reason: string): boolean {
  return used.test(reason);
}

/** The service that verifies payments and brings them to the chain, over HTTP. */
export class Facilitator {
  readonly #client: HTTPFacilitatorClient;
  #supported: { known: Supported; at: number } | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<Supported> | undefined;

  constructor({ url, timeoutMs = patienceMs }: { url: string; timeoutMs?: number | undefined }) {
    this.#client = new HTTPFacilitatorClient({ url, timeoutMs });
  }

  /** Its address, without what may be secret in it. */
  get place(): string {
    return new URL(this.#client.url).origin;
  }

  /** What it supports, as of the last minutes. Throws `Unavailable` if it never answered. */
  async supported(): Promise<Supported> {
    const now = clock.elapsed();
    const last = this.#supported;
    if (last && now - last.at < supportedMs) return last.known;
    if (last && now - this.#failedAt < failedMs) return last.known;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return await this.#asking.catch((error: unknown) => {
      if (last) return last.known;
      throw error;
    });
  }

  /** Whether it can be reached now, as far as can be told within two seconds. */
  async reachable(): Promise<boolean> {
    const asked = within(this.#ask(), reachableMs);
    return await asked.then(
      () => true,
      () => false,
    );
  }

  /** Throws `Unavailable` if it does not answer. */
  async verify(proof: Proof, resource: Resource): Promise<Verified> {
    try {
      const { isValid, invalidReason, payer } = await this.#client.verify(...said(proof, resource));
      if (isValid) return { is: 'valid', payer: payer ?? '' };
      return { is: 'invalid', reason: invalidReason ?? 'invalid_payload' };
    } catch (error) {
      const { name, invalidReason } = error as { name?: string; invalidReason?: string };
      if (name === 'VerifyError') return { is: 'invalid', reason: invalidReason ?? 'invalid_payload' };
      throw unreachable();
    }
  }

  /** Has the payment settled; never throws. */
  async settle(proof: Proof, resource: Resource): Promise<Settled> {
    try {
      const answer = await this.#client.settle(...said(proof, resource));
      if (answer.success)
        return { is: 'settled', transaction: answer.transaction, payer: answer.payer ?? '' };
      return refusal(answer, proof);
    } catch (error) {
      return failure(error as Failure, proof);
    }
  }

  async #ask(): Promise<Supported> {
    try {
      const { kinds } = await this.#client.getSupported();
      const find = ({ id, v1 }: PaymentNetwork, scheme: string, version: 1 | 2) =>
        kinds.find((kind) => {
          const isNamed = version === 2 ? kind.network === id : kind.network === v1;
          return kind.x402Version === version && kind.scheme === scheme && isNamed;
        });
      const known: Supported = {
        versions: (network, scheme) => ([2, 1] as const).filter((version) => find(network, scheme, version)),
        extra: (network, scheme) => find(network, scheme, 2)?.extra ?? {},
      };
      this.#supported = { known, at: clock.elapsed() };
      return known;
    } catch {
      this.#failedAt = clock.elapsed();
      throw unreachable();
    }
  }
}

/** The error of a facilitator that does not answer. */
export function unreachable(): Unavailable {
  return new Unavailable('facilitator_unreachable');
}

/** A payment in the protocol version that it came in, or in the one that the facilitator takes. */
function said(proof: Proof, resource: Resource): [PaymentPayload, PaymentRequirements] {
  const { offer, payload, version } = proof;
  const { requirement, network, versions } = offer;
  const spoken = versions.includes(version) ? version : versions[0];
  if (spoken === 1) {
    const { scheme } = requirement;
    const v1 = { x402Version: 1, scheme, network: network.v1, payload };
    // the client's types are those of version 2, and it passes on what it gets
    return [
      v1 as unknown as PaymentPayload,
      requirementV1(offer, resource) as unknown as PaymentRequirements,
    ];
  }
  return [{ x402Version: 2, resource, accepted: requirement, payload }, requirement];
}

interface Failure extends Error {
  errorReason?: string;
  transaction?: string;
}

function refusal(
  answer: { errorReason?: string | undefined; transaction?: string | undefined },
  { offer }: Proof,
): Settled {
  const { errorReason: reason = 'settlement_failed', transaction = '' } = answer;
  const isOfEvm = isEvm(offer.network.id);
  const wasSent = (isOfEvm ? hash.evm : hash.solana).test(transaction);
  const isPending = wasSent || mayCome.test(reason) || (reason === failedOnSolana && !isOfEvm);
  return isPending ? { is: 'unknown', error: reason } : { is: 'refused', reason, transaction };
}

function failure(error: Failure, proof: Proof): Settled {
  if (error.name === 'SettleError') return refusal(error, proof);
  const { code } = (error.cause ?? {}) as { code?: string };
  const wasNotReached = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];
  const isUnsent = code !== undefined && wasNotReached.includes(code);
  return { is: isUnsent ? 'unsent' : 'unknown', error: error.message };
}

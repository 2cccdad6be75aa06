import type { Fate, Intended } from '../../streams/payments/index.js';
import type { Chain } from './chain.js';
import { type Facilitator, saysUsed } from './facilitator.js';
import { isEvm, networkOf } from './networks.js';
import { accessTo, offerOn } from './offers.js';

/** Sources for the fate of payments. */
export interface FateOptions {
  /** Goes first, where it knows. */
  chain: Chain | undefined;
  facilitator: Facilitator | undefined;
  /** Base address of the public API. */
  publicUrl: string;
}

/**
 * The fate of a payment with an intent; `undefined` if nobody can tell now. Moves no money. A facilitator can
 * tell until the authorization has expired, and never on Solana. After that only a chain can.
 */
export async function fateOf(
  intended: Intended,
  { chain, facilitator, publicUrl }: FateOptions,
  now: Date,
): Promise<Fate | undefined> {
  const { network, asset, payer, nonce, pay_to: payTo, amount } = intended;
  if (nonce === null) return undefined;
  const seen = await chain?.fateOf({ network, asset, payer, nonce, payTo, amount });
  return seen ?? (facilitator && (await wordOf(facilitator, intended, publicUrl, now)));
}

async function wordOf(
  facilitator: Facilitator,
  { payment, network: id, pay_to, amount, payer, nonce, valid_before, proof, channel }: Intended,
  publicUrl: string,
  now: Date,
): Promise<Fate | undefined> {
  const network = networkOf(id);
  // of an expired authorization it says only that it has expired, whether it was used or not
  const isOver = valid_before !== null && valid_before * 1_000 <= now.getTime();
  if (proof === null || network === undefined || !isEvm(id) || isOver) return undefined;
  try {
    const offer = offerOn(network, pay_to, amount, await facilitator.supported());
    if (!offer) return undefined;
    const presented = { id: payment, offer, payer, nonce, validBefore: valid_before, ...proof };
    const verified = await facilitator.verify(presented, accessTo(publicUrl, channel, ''));
    if (verified.is === 'valid') return { is: 'unused' };
    return saysUsed(verified.reason) ? { is: 'paid', transaction: '' } : undefined;
  } catch {
    return undefined;
  }
}

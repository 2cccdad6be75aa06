import type { World } from '../world.js';
import type { SignedTransfer, SimulatedChain } from './chain.js';
import type { Asked } from './outside.js';

/** How a facilitator brings payments to the chain, for a while. */
export type Manner =
  | 'soon'
  /** Beyond the patience of whoever waits. */
  | 'late'
  /** Says that it is under way, and it comes to pass later, or never. */
  | 'pending'
  /** Finds out only on the chain that a transfer is not possible any more. */
  | 'blind';

/** Who verifies payments and settles them on a chain, as far as the answers go. */
export class SimulatedFacilitator {
  manner: Manner = 'soon';
  /** Told of each settlement that begins, with the process that asks: it may not live to hear of it. */
  settling: (process: string) => void = () => {};
  readonly #world: World;
  readonly #chain: SimulatedChain;
  readonly #random;
  /** The status of an answer that says no: makes differ. */
  readonly #refusedWith: number;

  constructor(world: World, chain: SimulatedChain) {
    this.#world = world;
    this.#chain = chain;
    this.#random = world.random.fork();
    this.#refusedWith = this.#random.pick([200, 400]);
  }

  /** Answers as its server. */
  async serve({ url, body, process }: Asked): Promise<Response> {
    if (url.pathname === '/supported') {
      const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];
      return Response.json({ kinds, extensions: [], signers: {} });
    }
    const { paymentPayload } = JSON.parse(body) as {
      paymentPayload: { payload: { authorization: SignedTransfer } };
    };
    const { authorization: signed } = paymentPayload.payload;
    return url.pathname === '/verify' ? this.#verify(signed) : await this.#settle(signed, process);
  }

  #verify(signed: SignedTransfer): Response {
    const invalidReason = this.#chain.obstacle(signed);
    const { from: payer } = signed;
    if (invalidReason === undefined) return Response.json({ isValid: true, payer });
    return Response.json({ isValid: false, invalidReason, payer }, { status: this.#refusedWith });
  }

  async #settle(signed: SignedTransfer, process: string): Promise<Response> {
    const { manner } = this;
    const network = 'eip155:8453';
    const { from: payer } = signed;
    const refuse = (errorReason: string, transaction = '') =>
      Response.json(
        { success: false, errorReason, transaction, network, payer },
        { status: this.#refusedWith },
      );
    this.settling(process);
    const obstacle = manner === 'blind' ? undefined : this.#chain.obstacle(signed);
    if (obstacle !== undefined) return refuse(obstacle);
    if (manner === 'late') await this.#pass(this.#random.int(8_000, 14_000));
    if (manner === 'pending') {
      const comes = this.#random.chance(0.7);
      if (comes) this.#world.after(this.#random.int(1_000, 25_000), () => this.#chain.transfer(signed));
      return refuse(
        this.#random.pick(['settlement_pending', 'unexpected_settle_error']),
        this.#chain.newHash(),
      );
    }
    await this.#pass(this.#random.int(10, 300));
    const transaction = this.#chain.transfer(signed);
    await this.#pass(this.#chain.untilBlock + this.#random.int(1, 500));
    if (transaction === undefined) return refuse('invalid_transaction_state', this.#chain.newHash());
    return Response.json({ success: true, transaction, network, payer });
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.after(ms, resolve));
  }
}

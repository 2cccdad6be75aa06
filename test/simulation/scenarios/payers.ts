import type { PaymentAnswer } from '../../../src/operations/payments/answers.js';
import { buyAccess } from '../../../src/operations/payments/buy-access.js';
import type { PaymentsParts } from '../../../src/operations/payments/index.js';
import { pause } from '../../../streams/core/index.js';
import { paymentId } from '../../../streams/payments/index.js';
import { networkOf } from '../../../workers/payments/networks.js';
import type { SignedTransfer, SimulatedChain } from '../http/chain.js';
import type { Random } from '../random.js';
import type { Stage } from '../scenario.js';

const network = networkOf('eip155:8453')!;
/** What they are made in. */
export const token = network.asset;
/** Where payments go. */
export const payTo = '0x00000000000000000000000000000000000f00D5';
/** What each channel costs, in the smallest unit. */
export const price = 100_000n;

/** A process that takes payments, as payers see it. */
export interface Till {
  parts: PaymentsParts;
  isDead(): boolean;
}

/** A signed payment, and the answers to it. */
export interface Payment {
  /** As facts call it. */
  id: string;
  signed: SignedTransfer;
  nick: string;
  channel: string;
  header: string;
  /** Sessions that it was answered with. */
  sessions: Set<string>;
  /** An attempted settlement was refused. */
  isRefused: boolean;
}

/** How somebody pays. */
interface Way {
  nick: string;
  channel: string;
  /** How long the signature is valid, in seconds. */
  seconds: number;
  /** How often it is presented until a final answer. */
  tries: number;
  /** Whether they do not have the amount that they sign for. */
  isPoor?: boolean;
}

/** Refusals that no retry changes. */
const final = new Set(['payment_header_invalid', 'validation_failed', 'not_found']);
/** What a payer may be told besides a grant and a 402. */
const known = new Set(
  Object.keys(buyAccess.refusals ?? {}).concat('log_unavailable', 'answer_overdue', 'store_unavailable'),
);

/** Those who pay for channels. Each signs, and presents that until it is answered or they lose patience. */
export class Payers {
  readonly payments: Payment[] = [];
  readonly #stage: Stage;
  readonly #chain: SimulatedChain;
  readonly #tills: () => (Till | undefined)[];
  readonly #underWay = new Set<Promise<void>>();

  constructor(stage: Stage, chain: SimulatedChain, tills: () => (Till | undefined)[]) {
    this.#stage = stage;
    this.#chain = chain;
    this.#tills = tills;
  }

  /** Somebody pays. A signature pays once, however often it is presented. */
  pay(random: Random, way: Way): Payment {
    const payment = this.#sign(way);
    this.#follow(this.#present(payment, way, random.fork()));
    return payment;
  }

  /** The same payment again, perhaps for another channel or another nick. */
  again(random: Random, way: Partial<Way> & { tries: number }): void {
    if (this.payments.length === 0) return;
    const payment = random.pick(this.payments.slice(-8));
    this.#follow(this.#present(payment, { ...payment, ...way }, random.fork()));
  }

  /** The same payment again, presented by the one it was granted to after a lost connection. */
  comeBack(payment: Payment, { nick, channel }: Pick<Way, 'nick' | 'channel'>, random: Random): void {
    this.#follow(this.#present(payment, { ...payment, nick, channel, tries: 5 }, random.fork()));
  }

  /** Resolves when nobody waits for an answer any more. */
  async atRest(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #sign({ nick, channel, seconds, isPoor = false }: Way): Payment {
    const number = this.payments.length + 1;
    const from = `0x${number.toString(16).padStart(40, 'a')}`;
    if (!isPoor) this.#chain.fund(from, price);
    const signed = {
      from,
      to: payTo,
      value: String(price),
      validAfter: '0',
      validBefore: String(Math.floor(Date.now() / 1_000) + seconds),
      nonce: `0x${number.toString(16).padStart(64, '0')}`,
    };
    const accepted = {
      scheme: 'exact',
      network: network.id,
      amount: signed.value,
      asset: network.asset,
      payTo,
      maxTimeoutSeconds: 300,
      extra: network.domain,
    };
    const payload = { signature: `0x${'11'.repeat(65)}`, authorization: signed };
    const header = Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload })).toString('base64');
    const id = paymentId(network.id, network.asset, from, signed.nonce);
    const payment = { id, signed, nick, channel, header, sessions: new Set<string>(), isRefused: false };
    this.payments.push(payment);
    return payment;
  }

  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #present(
    payment: Payment,
    way: Pick<Way, 'nick' | 'channel' | 'tries'>,
    random: Random,
  ): Promise<void> {
    const { world } = this.#stage;
    for (let tries = 0; tries < way.tries; tries++) {
      const till = random.pick(this.#tills());
      if (till) {
        const answered = await this.#ask(payment, way, till);
        // whoever presents it to a process that dies gets no answer
        if (!till.isDead()) {
          world.tell(way.nick, `pays for ${way.channel} with ${payment.id.slice(0, 6)}: ${answered.is}`);
          if (answered.isOver) return;
        }
      }
      await pause(random.int(200, 5_000));
    }
  }

  async #ask(
    payment: Payment,
    { nick, channel }: { nick: string; channel: string },
    { parts, isDead }: Till,
  ): Promise<{ is: string; isOver: boolean }> {
    const stage = this.#stage;
    try {
      const asked = { channel, nick, paymentSignature: payment.header };
      const answer = await buyAccess.run(asked, { is: 'none', actor: 'payer' }, parts);
      const { status, body } = answer as PaymentAnswer;
      if (isDead()) return { is: 'nothing', isOver: false };
      if (status === 200) {
        const { sessionId, nick: whose } = body as { sessionId: string; nick: string };
        stage.count('answer: granted');
        stage.check('a grant is for who asks', whose === nick, `${nick}: ${JSON.stringify(body)}`);
        payment.sessions.add(sessionId);
        return { is: sessionId, isOver: true };
      }
      const { code, error } = body as { code: string; error: string };
      if (code === 'settlement_failed') payment.isRefused = true;
      stage.count(`answer: ${code}`);
      return { is: `${code} ${error}`, isOver: true };
    } catch (error) {
      const { kind, code = '', stack } = error as { kind?: string; code?: string; stack?: string };
      const isKnown = kind !== undefined && known.has(code);
      stage.check('payers are refused in known ways', isKnown || isDead(), () => `${code} ${stack}`);
      stage.count(`answer: ${code}`);
      return { is: code, isOver: final.has(code) };
    }
  }
}

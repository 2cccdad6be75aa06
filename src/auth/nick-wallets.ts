import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../streams/core/index.js';
import { walletKey } from '../../streams/identity/index.js';
import type { Wallets } from './erc8128/wallets.js';
import { rawBodyOf } from './json-bodies.js';

/** What signed requests for a nick are judged by. */
export interface NickWalletsOptions {
  wallets: Pick<Wallets, 'presented' | 'verify'>;
  /** The wallet of a nick, and how far both are proven; throws 404 without any. */
  linkOf(nick: string): Promise<Link>;
  /** The nick of a wallet, and how far both are proven; throws 404 without any. */
  linkOfWallet(address: string): Promise<Link & { nick: string }>;
}

interface Link {
  wallet_address: string;
  level: number;
}

/** From this level on a nick and its wallet have proven each other. */
export const provenLevel = 2;

/** A verified wallet proves no nick: the link is at level 0 until the nick has said so on the network. */
export const unproven = (nick: string, level: number): Refusal =>
  new Refusal(
    'wallet_not_verified',
    `${nick} and its wallet have not proven each other: the link is at level ${level}, and ${provenLevel} is needed`,
  );

/** Lets the wallet of a nick act for it. Their names in the facts are addresses, in lower case. */
export class NickWallets {
  readonly #options: NickWalletsOptions;

  constructor(options: NickWalletsOptions) {
    this.#options = options;
  }

  /** Whether a request shows a signature: then that decides, and no key that it may carry. */
  presented(request: FastifyRequest): boolean {
    return this.#options.wallets.presented(request);
  }

  /** The wallet that signed, if it is linked with the nick. Throws 401 for the signature, 403 for another's wallet, 404 without any. */
  async linked(request: FastifyRequest, nick: string): Promise<string> {
    return (await this.#signer(request, nick)).address;
  }

  /** The wallet that signed, if it and the nick have proven each other. Throws like `linked`, and 403. */
  async proven(request: FastifyRequest, nick: string): Promise<string> {
    const { address, link } = await this.#signer(request, nick);
    if (link.level < provenLevel) throw unproven(nick, link.level);
    return address;
  }

  /** The wallet that signed, and the nick that it and that one have proven. Throws 401 for the signature, 404 without a nick, and 403. */
  async own(request: FastifyRequest): Promise<{ address: string; nick: string }> {
    const { wallets, linkOfWallet } = this.#options;
    const { address } = await wallets.verify(request, rawBodyOf(request));
    const { nick, level } = await linkOfWallet(address);
    if (level < provenLevel) throw unproven(nick, level);
    return { address, nick };
  }

  async #signer(request: FastifyRequest, nick: string): Promise<{ address: string; link: Link }> {
    const { wallets, linkOf } = this.#options;
    const { address } = await wallets.verify(request, rawBodyOf(request));
    const link = await linkOf(nick);
    if (walletKey(link.wallet_address) !== walletKey(address))
      throw new Refusal('wallet_not_of_nick', `The wallet that signed is not the one of ${nick}`);
    return { address, link };
  }
}

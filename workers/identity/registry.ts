import { Mutex } from 'async-mutex';
import type { Logger } from 'pino';
import { clock, within } from '../../streams/core/clock.js';
import { type Log, type Position, Unavailable } from '../../streams/core/index.js';
import {
  type Challenge,
  type IdentityFact,
  identity,
  type Link,
  noWalletLinked,
  type RegistryCommand,
  registryDecider,
  walletKey,
} from '../../streams/identity/index.js';
import { type ChallengeRecords, Challenges } from './challenges.js';
import { signerOf } from './signature.js';

/** Where agent ids of wallets are looked up. Throws if it cannot be asked now. */
export interface AgentIds {
  agentOf(wallet: string): Promise<number | null>;
}

/** What the registry works with. */
export interface IdentityRegistryOptions {
  log: Log;
  logger: Logger;
  /** `undefined` if no chain is configured: then no wallet has an agent id. */
  agents: AgentIds | undefined;
  /** Where the challenges of links are. */
  challenges: ChallengeRecords;
}

/** The result of a command; `position` is the registry's position then. */
export interface Registered {
  fact: IdentityFact | undefined;
  position: Position;
}

interface Decided extends Registered {
  /** The nick's link as it is then. */
  link: Readonly<Link> | undefined;
}

/** A newly verified link. */
export interface Verified extends Registered {
  nick: string;
  walletAddress: string;
  agentId: number | null;
  /** Whether the nick itself confirms the link; without it the verification gives no level. */
  identified: boolean;
  at: Date;
}

/** Who asks: the author for the facts. */
export interface Asking {
  by: string;
}

/**
 * Longest wait of a verification for the chain, in milliseconds. After that, the agent id comes with the next
 * lookup there.
 */
const lookUpMs = 2_500;
/** Longest wait of a command for those before it, in milliseconds. */
const lineMs = 10_000;

/**
 * The commands of the identity registry. Nicks are casefolded, errors are the decider's. All are decided on
 * one subject, so in one process they queue up: in parallel they would only make each other decide again.
 */
export class IdentityRegistry {
  readonly #options: IdentityRegistryOptions;
  readonly #commands = new Mutex();
  readonly #challenges: Challenges;
  #position: Position | undefined;

  constructor(options: IdentityRegistryOptions) {
    this.#options = options;
    this.#challenges = new Challenges(options.challenges);
  }

  /** Up to where this process has written, for reads that must see it. */
  get position(): Position | undefined {
    return this.#position;
  }

  /**
   * Links a nick and a wallet. `identified`: the nick itself asks, which also confirms what was linked
   * before.
   */
  link(nick: string, walletAddress: string, identified: boolean, asking: Asking): Promise<Registered> {
    return this.#handle({ is: 'link', nick, wallet_address: walletAddress, identified }, asking);
  }

  unlink(nick: string, asking: Asking): Promise<Registered> {
    return this.#handle({ is: 'unlink', nick }, asking);
  }

  /**
   * Issues a challenge; those that are still valid stay so. If there were many lately, it gives the last one
   * again. `count` is called for a link that may have one, and may refuse.
   */
  async challenge(
    nick: string,
    asking: Asking,
    count: () => Promise<unknown> = async () => {},
  ): Promise<{ challenge: string; expires_at: string }> {
    const { link } = await this.#handle({ is: 'challenge', nick }, asking);
    await count();
    const { text, expiresAt } = await this.#challenges.issue(nick, link!, () => this.#options.log.now());
    return { challenge: text, expires_at: new Date(expiresAt).toISOString() };
  }

  /**
   * Verifies a link by a signature over its challenge, and looks up the wallet's agent id. Other nicks' claims on
   * the wallet end.
   */
  async verify(nick: string, signature: string, asking: Asking): Promise<Verified> {
    const link = await this.#look(nick);
    if (!link) throw noWalletLinked();
    const challenges = link.verified ? [] : await this.#challenges.of(nick, link);
    const { challenge, signer, isOwner } = await signedOf(link, challenges, signature);
    const agent_id = isOwner ? await this.#agentOf(link.walletAddress) : null;
    const command = { is: 'verify', nick, link: link.id, challenge, signer, agent_id } as const;
    let { fact, position } = await this.#handle(command, asking);
    // the wallet has signed: each decision before the last one ended a claim of another nick
    while (fact?.type === 'identity.unlinked') ({ fact, position } = await this.#handle(command, asking));
    const { walletAddress, identified } = link;
    const at = this.#options.log.now();
    return { fact, position, nick, walletAddress, agentId: agent_id, identified, at };
  }

  /** Records which agent id a verified wallet has now, if it has changed. */
  noteAgent(nick: string, walletAddress: string, agentId: number | null, by: string): Promise<Registered> {
    const command = { is: 'note agent', nick, wallet_address: walletAddress, agent_id: agentId } as const;
    return this.#handle(command, { by });
  }

  async #look(nick: string): Promise<Readonly<Link> | undefined> {
    return (await this.#decided({ is: 'look', nick }, nick)).link;
  }

  async #handle(command: RegistryCommand, { by }: Asking): Promise<Decided> {
    const decided = await this.#decided(command, by);
    if (decided.position.seq > (this.#position?.seq ?? 0)) this.#position = decided.position;
    return decided;
  }

  /** The link is copied before the next command in the queue changes it. */
  #decided(command: RegistryCommand, by: string): Promise<Decided> {
    return this.#inLine(async () => {
      const { log } = this.#options;
      const { state, fact, position } = await log.handle(identity, registryDecider, command, { by });
      const link = state.links.get(command.nick);
      return { fact, position, link: link && { ...link } };
    });
  }

  /** While the log does not answer, queued commands need not find that out one after the other. */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const since = clock.elapsed();
    return this.#commands.runExclusive(async () => {
      if (clock.elapsed() - since > lineMs)
        throw new Unavailable('log_contended', 'Too many commands wait for the identity registry', 2);
      return await work();
    });
  }

  async #agentOf(wallet: string): Promise<number | null> {
    const { agents, logger } = this.#options;
    if (!agents) return null;
    try {
      return await within(agents.agentOf(wallet), lookUpMs);
    } catch (error) {
      logger.warn({ wallet, err: error }, 'agent id not looked up now');
      return null;
    }
  }
}

/**
 * The challenge that a signature is over, and its signer. Without a matching challenge, the signer that it
 * would have over the newest.
 */
async function signedOf(link: Readonly<Link>, challenges: readonly Challenge[], signature: string) {
  for (const challenge of challenges) {
    const signer = await signerOf(challenge.text, signature);
    if (signer !== undefined && walletKey(signer) === walletKey(link.walletAddress))
      return { challenge, signer, isOwner: true };
  }
  const [challenge] = challenges;
  const signer = challenge === undefined ? undefined : await signerOf(challenge.text, signature);
  return { challenge, signer, isOwner: false };
}

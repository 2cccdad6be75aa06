import { type Log, Refusal } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Agent } from './agent.js';

/** What moves of agents need. */
export interface MovesOptions {
  log: Log;
  /** Channels that one agent may be in; 50 by default. */
  mostChannels?: number;
  /** The agent that has a nick now. */
  find(nick: string): Agent | undefined;
  /** Records where an agent is, and who asked for it. */
  record(agent: Agent, by: string): Promise<void>;
}

/** Channels that one agent may be in. */
const usualMostChannels = 50;
/** Requests of one agent to join and to part that may be under way: the network takes about one of them a second. */
const mostMoving = 10;

/** Brings agents into channels and out of them, and says that they are away: one thing after the other for each agent. */
export class Moves {
  readonly #options: MovesOptions;
  readonly #locks = new KeyedLock();

  constructor(options: MovesOptions) {
    this.#options = options;
  }

  /** Brings an agent into a channel, after its joins that are under way, and records that. Does nothing if it is not wanted by then. */
  async join(agent: Agent, channel: string, by: string, isWanted = () => true): Promise<void> {
    if (agent.isIn(channel)) return;
    const { mostChannels = usualMostChannels } = this.#options;
    await this.#inTurn(agent, async () => {
      if (agent.isIn(channel) || !isWanted()) return;
      if (agent.channels.filter((name) => casefold(name) !== casefold(channel)).length >= mostChannels)
        throw new Refusal('too_many_channels');
      await agent.enter(channel);
      await this.#options.record(agent, by);
    });
  }

  /** The same on request. Throws `rate_limited` while many joins and parts of the agent are under way. */
  async askToJoin(agent: Agent, channel: string, by: string): Promise<void> {
    await this.#counted(agent, () => this.join(agent, channel, by));
  }

  /** Brings it out of a channel. Throws `rate_limited` as above. */
  async part(agent: Agent, channel: string, by: string): Promise<void> {
    const leave = async () => {
      // another connection may have taken its place, with its channels; or another person has the nick
      const now = this.#options.find(agent.nick);
      if (now?.person === agent.person && (await now.leave(channel, 'Leaving')))
        await this.#options.record(now, by);
    };
    await this.#counted(agent, () => this.#inTurn(agent, leave));
  }

  /**
   * Says that an agent is away, or back without a message, and records that. Of words that wait for their turn only the last
   * one is said: the network takes about one a second. It answers all who asked.
   */
  async setAway(agent: Agent, message: string | null, by: string): Promise<void> {
    const told = agent.wish?.told ?? this.#inTurn(agent, async () => await this.#tellWish(agent));
    agent.wish = { message, by, told };
    await told;
  }

  async #tellWish(agent: Agent): Promise<void> {
    const { wish } = agent;
    agent.wish = undefined;
    if (!wish || (agent.away?.message ?? null) === wish.message) return;
    const { message, by } = wish;
    await agent.setAway(message === null ? null : { message, since: this.#options.log.now().toISOString() });
    await this.#options.record(agent, by);
  }

  /** Tries the channels again that did not let an agent in when it came back; `by`: who gives those up that never do. */
  async enterAgain(agent: Agent, by: string): Promise<void> {
    await this.#inTurn(agent, async () => {
      if (await agent.enterAgain()) await this.#options.record(agent, by);
    });
  }

  async #inTurn(agent: Agent, work: () => Promise<void>): Promise<void> {
    await this.#locks.run(casefold(agent.nick), work);
  }

  async #counted(agent: Agent, work: () => Promise<void>): Promise<void> {
    if (agent.moving >= mostMoving)
      throw new Refusal('rate_limited', `${mostMoving} joins and parts of ${agent.nick} are under way`, {
        retryAfter: 5,
      });
    agent.moving++;
    try {
      await work();
    } finally {
      agent.moving--;
    }
  }
}

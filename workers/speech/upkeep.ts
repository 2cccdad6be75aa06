import type { Logger } from 'pino';
import { clock, pause } from '../../streams/core/clock.js';
import type { Log, Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type ConnectionState,
  connectionSubjects,
  connections,
  type SpeechFact,
  speech,
} from '../../streams/speech/index.js';
import type { Agent } from './agent.js';
import { type Agents, gatewayActor } from './agents.js';
import type { EndedKeys } from './ended-keys.js';
import type { LeftAgent } from './former-agents.js';
import type { OwnWebhooks } from './own-webhooks.js';

/** How agents are looked after; times in milliseconds. */
export interface UpkeepOptions {
  log: Log;
  logger: Logger;
  agents: Agents;
  keys: EndedKeys;
  webhooks: OwnWebhooks;
  /** Agents on the network at once. */
  most: number;
  /** How long an agent may be silent. */
  idleMs: number;
  /** Pause between two checks for agents that must leave; 5,000 by default. */
  lookMs?: number;
  /** Pause between two attempts of an agent to come back onto the network, or into a channel, that refused it; a minute by default. */
  againMs?: number;
}

const usualLookMs = 5_000;
const usualAgainMs = 60_000;
/** Agents that are brought back at once, onto the network or into their channels. */
const atOnce = 20;
const keyEnded = 'The key has ended';

/** The share of all places that silent agents with a webhook leave to others. */
const keptFree = 1 / 50;

/**
 * Brings agents back after a takeover, and ends those that are idle or without a valid key. One with a webhook stays while it
 * is silent, as long as there is a place for others.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    const left = this.#left();
    this.#options.agents.former.takeOver(left);
    const keep = async () => {
      await this.#restore(left);
      await Promise.all([this.#lookAfter(), this.#tryAgain()]);
    };
    this.#running = keep();
  }

  /** Begins nothing new. The result resolves when nothing is under way: agents have to be stopped for that. */
  stop(): { ended: Promise<void> } {
    this.#stop.abort();
    return { ended: this.#running ?? Promise.resolve() };
  }

  async #restore(left: Promise<readonly LeftAgent[]>): Promise<void> {
    const { agents, logger, keys } = this.#options;
    const all = await left;
    if (all.length === 0) return;
    const ended = await keys.among(usersOf(all));
    await this.#each(all, async ({ state, users }) => {
      // it is here again, or it was asked to leave
      if (!agents.former.isLeft(state.nick)) return;
      try {
        if (allIn(users, ended)) await agents.close(state.nick, gatewayActor, keyEnded);
        else await agents.bringBack(state, users);
      } catch (error) {
        logger.info({ nick: state.nick, err: error }, 'agent not brought back yet');
      }
    });
    logger.info({ agents: agents.count }, 'agents brought back');
  }

  /** The agents that were on the network when the last holder ended. */
  async #left(): Promise<LeftAgent[]> {
    const { agents, logger } = this.#options;
    const open = new Map<string, LeftAgent>();
    const idle = new Map<string, ConnectionState>();
    try {
      for await (const { type, data, by, at } of this.#connections()) {
        if (type !== 'connection.changed') continue;
        agents.owners.claim(data, at);
        const key = casefold(data.nick);
        const before = open.get(key);
        open.delete(key);
        idle.delete(key);
        if (!data.open) {
          idle.set(key, data);
          continue;
        }
        const users = new Set(before?.state.person === data.person ? before.users : []);
        for (const user of data.users) users.add(user);
        if (by !== gatewayActor) users.add(by);
        open.set(key, { state: data, users });
      }
    } catch (error) {
      logger.warn({ err: error }, 'agents are not brought back: each comes when it speaks');
    }
    for (const state of idle.values()) agents.former.remember(state);
    return [...open.values()];
  }

  /** All that is on record of connections, oldest first: for a day after an update, the older ones are in another stream. */
  async *#connections(): AsyncGenerator<Recorded<SpeechFact>> {
    const { log } = this.#options;
    yield* log.subject(speech, connectionSubjects.before);
    yield* log.subject(connections, connectionSubjects.now);
  }

  async #lookAfter(): Promise<void> {
    const { agents, idleMs, lookMs = usualLookMs, logger } = this.#options;
    while (!this.#stop.signal.aborted) {
      await pause(Math.min(lookMs, idleMs), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      await this.#endSome();
      for (const agent of agents.all)
        if (clock.elapsed() - agent.recordedAt >= connections.maxAgeMs / 2)
          await agents
            .recordAgain(agent)
            .catch((err) => logger.warn({ nick: agent.nick, err }, 'an agent is recorded again later'));
    }
  }

  /** Has agents try again that the network, or a channel, did not let in. */
  async #tryAgain(): Promise<void> {
    const { agents, againMs = usualAgainMs, logger } = this.#options;
    for (;;) {
      await pause(againMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      await this.#each(agents.all, async (agent) => {
        try {
          await (agent.hasEnded ? agents.connectAgain(agent) : agents.moves.enterAgain(agent, gatewayActor));
        } catch (err) {
          logger.info({ nick: agent.nick, err }, 'an agent tries again later');
        }
      });
    }
  }

  /** Works on all, some at once, until this stops. */
  async #each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
    const waiting = [...all];
    const next = async () => {
      for (let one = waiting.shift(); one && !this.#stop.signal.aborted; one = waiting.shift())
        await work(one);
    };
    await Promise.all(Array.from({ length: atOnce }, next));
  }

  /** Ends agents that are idle, or whose keys have all ended. */
  async #endSome(): Promise<void> {
    const { agents, idleMs, keys, logger, webhooks } = this.#options;
    const ended = await keys.among(usersOf(agents.all));
    const kept: Agent[] = [];
    const end = async ({ nick }: Agent, close: () => Promise<void>) =>
      await close().catch((err) => logger.warn({ nick, err }, 'an agent is let go later'));
    const isIdle = ({ waited, usedAt }: Agent) => waited === 0 && clock.elapsed() - usedAt >= idleMs;
    for (const agent of agents.all) {
      if (allIn(agent.users, ended)) await end(agent, () => agents.close(agent.nick, gatewayActor, keyEnded));
      else if (!isIdle(agent)) continue;
      else if (await webhooks.has(agent)) kept.push(agent);
      else await end(agent, () => agents.closeIdle(agent));
    }
    for (const agent of this.#tooMany(kept))
      if (isIdle(agent)) await end(agent, () => agents.closeIdle(agent));
  }

  /** Those of the silent agents that have to make room: whoever was silent for longest is the first. */
  #tooMany(silent: readonly Agent[]): Agent[] {
    const { agents, most } = this.#options;
    const over = agents.count - (most - Math.ceil(most * keptFree));
    return over <= 0 ? [] : [...silent].sort((a, b) => a.usedAt - b.usedAt).slice(0, over);
  }
}

const usersOf = (agents: readonly Pick<Agent, 'users'>[] | readonly LeftAgent[]): string[] => [
  ...new Set(agents.flatMap(({ users }) => [...users])),
];

/** Whether all users of an agent are among those given; false if nobody has used it until now. */
const allIn = (users: ReadonlySet<string>, given: ReadonlySet<string>): boolean =>
  users.size > 0 && [...users].every((user) => given.has(user));

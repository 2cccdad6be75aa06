import type { Logger } from 'pino';
import { clock, pause } from '../../streams/core/clock.js';
import { isExpected, type Log, Refusal, Unavailable } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  type ConnectionState,
  connectionSubject,
  connectionSubjects,
  speech,
} from '../../streams/speech/index.js';
import type { IrcConnectionOptions } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';
import { Agent } from './agent.js';
import { introduction, personOf } from './introduction.js';
import type { Speaker } from './requests.js';

/** The settings of the agents' connections. */
export interface AgentsOptions {
  log: Log;
  logger: Logger;
  /** Where the network is, and how it is reached. */
  connection: Pick<IrcConnectionOptions, 'url' | 'dial' | 'ca' | 'confirmTimeoutMs'>;
  /** The gateway's password at the IRC server. */
  password: string;
  /** Ends the session that has a nick, if it comes from the given host: an older one of ours. */
  supersede(session: { nick: string; host: string }): Promise<boolean>;
  /** Agents on the network at once. */
  most: number;
  /** How long one may be silent, in milliseconds. */
  idleMs: number;
  /** Channels that one agent may be in; 50 by default. */
  mostChannels?: number;
  /**
   * Pause between two attempts to enter a channel that refused an agent when it came back, in milliseconds; a
   * minute by default.
   */
  againMs?: number;
  /** Pause between two checks for agents that must leave, in milliseconds; 5,000 by default. */
  lookMs?: number;
  /** Which of these actors of facts are keys that are no longer valid. */
  ended(actors: readonly string[]): Promise<ReadonlySet<string>>;
  /** Gets what an agent hears that is not an answer to it. */
  heard(agent: Agent, line: IrcLine): void;
}

/** Channels that one agent may be in. */
const usualMostChannels = 50;
/** Requests of one agent to join that may be under way: the network lets it enter about one channel a second. */
const mostJoining = 10;
const usualAgainMs = 60_000;
/** Connections that are restored at once after a takeover. */
const restoredAtOnce = 20;
const usualLookMs = 5_000;
const actor = 'gateway';
const keyEnded = 'The key has ended';
const nothing: Pick<Agent, 'channels' | 'users'> = { channels: [], users: new Set() };

/** The last known state of a connection, and the actors of facts that used it. */
interface Open extends ConnectionState {
  users: ReadonlySet<string>;
}

/** The agents that are on the network through us. The place of each is recorded, for the next holder. */
export class Agents {
  readonly #options: AgentsOptions;
  /** By casefolded nick. */
  readonly #agents = new Map<string, Agent>();
  /** Actions on one agent run in sequence. */
  readonly #locks = new KeyedLock();
  /** Each agent enters and leaves channels in sequence. */
  readonly #joins = new KeyedLock();
  readonly #stop = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#agents.size;
  }

  /**
   * Brings back the agents that were on the network when the last holder ended. Then it ends those in time
   * that are idle or without a key.
   */
  start(): void {
    this.#looking = this.#restore().then(() => this.#lookAfter());
  }

  /** Ends all connections, without recording it: the next holder brings them back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const end = () =>
      Promise.all([...this.#agents.values()].map((agent) => agent.stop('The gateway restarts')));
    // those that are still being brought back no longer wait for their network
    await end();
    await this.#looking;
    await end();
  }

  /** The agent of a nick, if it is on the network through us. */
  find(nick: string): Agent | undefined {
    return this.#agents.get(casefold(nick));
  }

  /** Connects with an account of the nick service, in place of the connection there was. */
  async identify(speaker: Speaker, password: string): Promise<void> {
    await this.#locks.run(casefold(speaker.nick), async () => {
      const before = this.find(speaker.nick);
      await this.#remove(before, 'Identifying');
      const { channels, users } = before && isSame(before, speaker) ? before : nothing;
      this.#add(speaker, channels, { users, password });
    });
  }

  /**
   * Brings it onto the network, and records that. Throws like `Agent.session`; a useless agent is dropped.
   */
  async ready(speaker: Speaker): Promise<Agent> {
    const found = this.find(speaker.nick);
    // somebody who proves a nick later is not the one who was on the network under it
    if (found && !isSame(found, speaker)) await this.#remove(found, 'The nick has another owner');
    const agent = this.find(speaker.nick) ?? this.#add(speaker, []);
    agent.usedAt = clock.elapsed();
    try {
      await agent.session();
    } catch (error) {
      if (isRefusal(error)) await this.#remove(agent, error.message);
      throw error;
    }
    await this.#usedBy(agent, speaker.by);
    return agent;
  }

  /** Whether an actor is a key that is no longer valid. If that cannot be told, it counts as valid. */
  async hasEnded(by: string): Promise<boolean> {
    return (await this.#ended([by])).has(by);
  }

  /** Brings it into a channel, after its joins that are under way, and records that. */
  async join(agent: Agent, channel: string, by: string): Promise<void> {
    if (agent.isIn(channel)) return;
    const { mostChannels = usualMostChannels } = this.#options;
    await this.#joins.run(casefold(agent.nick), async () => {
      if (agent.isIn(channel)) return;
      if (agent.channels.filter((name) => casefold(name) !== casefold(channel)).length >= mostChannels)
        throw new Refusal('too_many_channels');
      await agent.enter(channel);
      await this.#record(agent, by, '');
    });
  }

  /** The same on request. Throws `rate_limited` while many joins of the agent are under way. */
  async askToJoin(agent: Agent, channel: string, by: string): Promise<void> {
    if (agent.joining >= mostJoining)
      throw new Refusal('rate_limited', `${mostJoining} joins of ${agent.nick} are under way`, {
        retryAfter: 5,
      });
    agent.joining++;
    try {
      await this.join(agent, channel, by);
    } finally {
      agent.joining--;
    }
  }

  async part(agent: Agent, channel: string, by: string): Promise<void> {
    await this.#joins.run(casefold(agent.nick), async () => {
      if (await agent.leave(channel, 'Leaving')) await this.#record(agent, by, '');
    });
  }

  /** The network put it out of a channel. */
  async putOut(agent: Agent, channel: string): Promise<void> {
    if (agent.putOutOf(channel)) await this.#record(agent, actor, '');
  }

  /** Ends the connection of an agent, and records it. */
  async close(nick: string, by: string, reason: string): Promise<void> {
    await this.#locks.run(casefold(nick), async () => {
      const agent = this.find(nick);
      if (!agent) return;
      await this.#remove(agent, reason);
      await this.#append(agent, by, { channels: [], open: false, reason });
    });
  }

  /** Takes note of an actor that uses an agent: the agent stays as long as one of its actors may speak. */
  async #usedBy(agent: Agent, by: string): Promise<void> {
    if (agent.users.has(by)) return;
    agent.users.add(by);
    try {
      await this.#record(agent, by, '');
    } catch (error) {
      agent.users.delete(by);
      throw error;
    }
  }

  async #ended(actors: readonly string[]): Promise<ReadonlySet<string>> {
    try {
      return await this.#options.ended(actors);
    } catch (err) {
      this.#options.logger.warn({ err }, 'whether keys of agents are good is looked up later');
      return new Set();
    }
  }

  /** The log keeps facts of this stream for a time only: those of agents that stay are told again before it is over. */
  async #recordAgain(): Promise<void> {
    for (const agent of this.#agents.values()) {
      if (clock.elapsed() - agent.recordedAt < speech.maxAgeMs / 2) continue;
      for (const by of agent.users) await this.#record(agent, by, '');
    }
  }

  async #enterAgain(agent: Agent): Promise<void> {
    await this.#joins.run(casefold(agent.nick), async () => {
      if (await agent.enterAgain()) await this.#record(agent, actor, '');
    });
  }

  #add(
    { nick, person = personOf(`nick ${casefold(nick)}`) }: Pick<Speaker, 'nick' | 'person'>,
    channels: readonly string[],
    { users = [], password }: { users?: Iterable<string>; password?: string | undefined } = {},
  ): Agent {
    const { connection, most, logger, heard, supersede } = this.#options;
    const webirc = introduction(person, this.#options.password);
    // a line that is still in hand when the gateway is stopped is said by who comes after us
    if (this.#stop.signal.aborted) throw new Unavailable('irc_unavailable', 'The gateway is being stopped');
    if (this.#agents.size >= most) throw new Refusal('too_many_agents');
    const agent = new Agent({
      nick,
      person,
      channels,
      users,
      logger,
      connection: {
        ...connection,
        realname: 'agent, through the gateway',
        webirc,
        // an earlier session of it may still be there, half open
        free: () => supersede({ nick, host: webirc.hostname }),
        ...(password === undefined ? {} : { account: { name: nick, password } }),
      },
      heard: (line) => heard(agent, line),
    });
    this.#agents.set(casefold(nick), agent);
    return agent;
  }

  async #remove(agent: Agent | undefined, reason: string): Promise<void> {
    if (!agent || this.find(agent.nick) !== agent) return;
    this.#agents.delete(casefold(agent.nick));
    await agent.stop(reason);
  }

  async #record(agent: Agent, by: string, reason: string): Promise<void> {
    agent.recordedAt = clock.elapsed();
    await this.#append(agent, by, { channels: agent.channels, open: true, reason });
  }

  async #append(
    { nick, person }: Pick<Agent, 'nick' | 'person'>,
    by: string,
    state: Omit<ConnectionState, 'nick' | 'person'>,
  ): Promise<void> {
    const fact = { type: 'connection.changed' as const, data: { nick, person, ...state } };
    await this.#options.log.append(speech, connectionSubject(nick), fact, { by });
  }

  async #restore(): Promise<void> {
    const { log, logger } = this.#options;
    const open = new Map<string, Open>();
    try {
      for await (const { type, data, by } of log.subject(speech, connectionSubjects)) {
        if (type !== 'connection.changed') continue;
        const key = casefold(data.nick);
        const before = open.get(key);
        open.delete(key);
        if (!data.open) continue;
        const users = new Set(before?.person === data.person ? before.users : []);
        if (by !== actor) users.add(by);
        open.set(key, { ...data, users });
      }
    } catch (error) {
      logger.warn({ err: error }, 'agents are not brought back: each comes when it speaks');
    }
    const waiting = [...open.values()];
    const ended = await this.#ended(usersOf(waiting));
    const next = async () => {
      for (let state = waiting.shift(); state && !this.#stop.signal.aborted; state = waiting.shift()) {
        const { nick, channels, users } = state;
        try {
          const found = this.find(nick);
          if (!found && allIn(users, ended))
            await this.#append(state, actor, { channels: [], open: false, reason: keyEnded });
          else await (found ?? this.#add(state, channels, { users })).session();
        } catch (error) {
          logger.info({ nick, err: error }, 'agent not brought back');
          if (error instanceof Refusal) await this.close(nick, actor, error.message).catch(() => {});
        }
      }
    };
    await Promise.all(Array.from({ length: restoredAtOnce }, next));
    if (open.size > 0) logger.info({ agents: this.count }, 'agents brought back');
  }

  async #lookAfter(): Promise<void> {
    const { idleMs, lookMs = usualLookMs, againMs = usualAgainMs, logger } = this.#options;
    let againAt = clock.elapsed() + againMs;
    while (!this.#stop.signal.aborted) {
      await pause(Math.min(lookMs, idleMs), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const agents = [...this.#agents.values()];
      const ended = await this.#ended(usersOf(agents));
      for (const agent of agents) {
        const isIdle = clock.elapsed() - agent.usedAt >= idleMs;
        if (!isIdle && !allIn(agent.users, ended)) continue;
        await this.close(agent.nick, actor, isIdle ? 'Idle' : keyEnded).catch((error) =>
          logger.warn({ nick: agent.nick, err: error }, 'an agent is let go later'),
        );
      }
      await this.#recordAgain().catch((error) =>
        logger.warn({ err: error }, 'connections of agents are recorded again later'),
      );
      if (clock.elapsed() < againAt) continue;
      againAt = clock.elapsed() + againMs;
      for (const agent of this.#agents.values())
        void this.#enterAgain(agent).catch((error) =>
          logger.warn({ nick: agent.nick, err: error }, 'an agent tries its channels again later'),
        );
    }
  }
}

const usersOf = (agents: readonly { users: ReadonlySet<string> }[]): string[] => [
  ...new Set(agents.flatMap(({ users }) => [...users])),
];

/** Whether all users of an agent are among those given; false if nobody has used it until now. */
const allIn = (users: ReadonlySet<string>, given: ReadonlySet<string>): boolean =>
  users.size > 0 && [...users].every((user) => given.has(user));

/** Whether an agent belongs to the speaker; an operator speaks for any agent. */
const isSame = (agent: Agent, { person }: Speaker): boolean =>
  person === undefined || person === agent.person;

const isRefusal = (error: unknown): error is Refusal => isExpected(error) && error.kind === 'refusal';

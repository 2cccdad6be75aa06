import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { isExpected, Refusal, Unavailable } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type ConnectionState, connectionSubject, connections } from '../../streams/speech/index.js';
import type { IrcConnectionOptions } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';
import type { IrcAccount } from '../irc/link.js';
import { Agent } from './agent.js';
import { type AgentState, FormerAgents, isSame } from './former-agents.js';
import { introduction, personOf } from './introduction.js';
import { Moves, type MovesOptions } from './moves.js';
import { Owners } from './owners.js';
import type { Speaker } from './requests.js';

/** The settings of the agents' connections. */
export interface AgentsOptions extends Pick<MovesOptions, 'log' | 'mostChannels'> {
  logger: Logger;
  /** Where the network is, and how it is reached. */
  connection: Pick<IrcConnectionOptions, 'url' | 'dial' | 'ca' | 'confirmTimeoutMs' | 'mayBegin'>;
  /** The gateway's password at the IRC server. */
  password: string;
  /** Ends the session that has a nick, if it comes from the given host: an older one of ours. */
  supersede(session: { nick: string; host: string }): Promise<boolean>;
  /** Agents on the network at once. */
  most: number;
  /** Gets what an agent hears that is not an answer to it. */
  heard(agent: Agent, line: IrcLine): void;
}

/** Who says it of agents, where it is nobody who uses them. */
export const gatewayActor = 'gateway';

/** The agents that are on the network through us. The place of each is recorded, for the next holder. */
export class Agents {
  readonly #options: AgentsOptions;
  /** The agents that are on the network from here, each under its casefolded nick. */
  readonly #agents = new Map<string, Agent>();
  /** Actions on one agent run in sequence. */
  readonly #locks = new KeyedLock();
  /** What is recorded of a nick is recorded in the order in which it was so. */
  readonly #recording = new KeyedLock();
  /** Agents that leave because another connection of theirs takes their place. */
  readonly #replaced = new Set<Promise<void>>();
  #stopped = false;
  readonly former = new FormerAgents();
  readonly owners = new Owners();
  readonly moves: Moves;

  constructor(options: AgentsOptions) {
    this.#options = options;
    this.moves = new Moves({
      ...options,
      find: (nick) => this.find(nick),
      record: async (agent, by) => await this.#record(agent, by),
    });
  }

  get count(): number {
    return this.#agents.size;
  }

  /** Those that are on the network, or on their way to it, or try again later because it did not let them in. */
  get all(): Agent[] {
    return [...this.#agents.values()];
  }

  /**
   * Lets nobody in any more, also not again. Another process may have the agents already: ours would take their nicks back,
   * and both would say the same line.
   */
  letNobodyIn(): void {
    this.#stopped = true;
    for (const agent of this.all) agent.beginNoMore();
  }

  /** Ends all connections, without recording it: the next holder brings them back. Lets nobody in after that. */
  async stop(): Promise<void> {
    this.letNobodyIn();
    await Promise.all([...this.all.map((agent) => agent.stop('The gateway restarts')), ...this.#replaced]);
  }

  /** The agent of a nick, if it is on the network through us. */
  find(nick: string): Agent | undefined {
    return this.#agents.get(casefold(nick));
  }

  /** The same, if it is the speaker's, and not that of somebody who had the nick before. */
  findOf(speaker: Speaker): Agent | undefined {
    const agent = this.find(speaker.nick);
    return agent && isSame(agent, speaker) ? agent : undefined;
  }

  /** The person who has a nick. An operator who names none speaks for that one. */
  async personOf(nick: string): Promise<string> {
    await this.former.known();
    return this.owners.of(nick) ?? personOf(`nick ${casefold(nick)}`);
  }

  /** Connects with an account of the nick service, in place of the connection there was. */
  async identify(speaker: Speaker, password: string): Promise<void> {
    await this.former.known();
    await this.#locks.run(casefold(speaker.nick), async () => {
      await this.#claim(speaker, this.#options.log.now());
      const before = this.find(speaker.nick);
      await this.#remove(before, 'Identifying');
      const { person, channels, users, away } = before ?? this.former.stateFor(speaker);
      this.#add({ nick: speaker.nick, person, channels, users, away }, { name: speaker.nick, password });
    });
  }

  /**
   * Brings it onto the network, and records that. Throws like `Agent.session`, and `nick_in_use` if somebody else has `asked`
   * for something under the nick since. An agent that was there before stays, and tries again later. One that never was is
   * dropped, and keeps the channels that it had before.
   */
  async ready(speaker: Speaker, asked = this.#options.log.now()): Promise<Agent> {
    // whoever speaks before it is brought back keeps its channels
    await this.former.known();
    await this.#claim(speaker, asked);
    const known = this.find(speaker.nick);
    // what the network said before this request may hold no more
    const agent = known?.isOut ? this.#anew(known) : (known ?? this.#add(this.former.stateFor(speaker)));
    agent.waited++;
    try {
      await agent.session();
    } catch (error) {
      const isUseless = isRefusal(error) && (agent.users.size === 0 || error.code === 'account_refused');
      if (isUseless) await this.#drop(agent, error.message);
      throw error;
    } finally {
      agent.waited--;
      agent.usedAt = clock.elapsed();
    }
    await this.#usedBy(agent, speaker.by);
    return agent;
  }

  /** Has whoever had the nick before the speaker leave. Throws `nick_in_use` if it is the speaker who had it before. */
  async #claim(speaker: Speaker, asked: Date): Promise<void> {
    for (;;) {
      if (!this.owners.claim(speaker, asked)) throw new Refusal('nick_in_use');
      const found = this.find(speaker.nick);
      if (!found || isSame(found, speaker)) return;
      await this.#remove(found, 'The nick has another owner');
    }
  }

  /** Connects an agent again that the network did not let in. Throws like `Agent.session`. */
  async connectAgain(agent: Agent): Promise<void> {
    if (this.find(agent.nick) !== agent) return;
    const again = this.#anew(agent);
    again.usedAt = agent.usedAt;
    await again.session();
  }

  /** It was kicked from a channel. */
  async noteKick(agent: Agent, channel: string, by: string): Promise<void> {
    if (this.find(agent.nick) === agent && agent.noteKick(channel, by))
      await this.#record(agent, gatewayActor);
  }

  /** Connects an agent again that was on the network through an earlier holder. Throws like `Agent.session`. */
  async bringBack(was: ConnectionState, users: ReadonlySet<string>): Promise<void> {
    const agent = this.find(was.nick) ?? this.#add({ ...was, users });
    await agent.session();
  }

  /** Records an agent once more: the log keeps facts of connections for a time only. */
  async recordAgain(agent: Agent): Promise<void> {
    if (this.find(agent.nick) === agent) await this.#record(agent, gatewayActor);
  }

  /** Ends the connection that a nick has, and records it. One that is not here does not come back into its channels. */
  async close(nick: string, by: string, reason: string): Promise<void> {
    await this.former.known();
    await this.#locks.run(casefold(nick), async () => {
      const was = this.former.forget(nick);
      const agent = this.find(nick);
      if (agent) await this.#end(agent, by, gone(reason));
      else if (was) await this.#inOrder(nick, () => this.#append(was, by, gone(reason)));
    });
  }

  /** Ends the connection of an agent that is silent for long, and records it with its channels: it may come back. */
  async closeIdle(agent: Agent): Promise<void> {
    await this.#locks.run(casefold(agent.nick), async () => {
      // somebody may have asked for it meanwhile, and it connected again
      if (this.find(agent.nick) === agent)
        await this.#end(agent, gatewayActor, this.#remember(agent, 'Idle'));
    });
  }

  async #end(agent: Agent, by: string, state: Place): Promise<void> {
    // it may come again before this is on record
    await this.#inOrder(agent.nick, async () => {
      await this.#remove(agent, state.reason);
      await this.#append(agent, by, state);
    });
  }

  /** It gets its channels back when it comes again. */
  #remember(agent: Agent, reason: string): Place {
    const state = { ...gone(reason), channels: agent.channels };
    this.former.remember({ nick: agent.nick, person: agent.person, ...state });
    return state;
  }

  /** Takes note of an actor that uses an agent: the agent stays as long as one of its actors may speak. */
  async #usedBy(agent: Agent, by: string): Promise<void> {
    if (agent.users.has(by)) return;
    agent.users.add(by);
    try {
      await this.#record(agent, by);
    } catch (error) {
      agent.users.delete(by);
      throw error;
    }
  }

  #anew(agent: Agent): Agent {
    const again = this.#add(agent, agent.account);
    // nothing is recorded by this
    again.recordedAt = agent.recordedAt;
    return again;
  }

  /** Takes the place of the connection that the nick has, if it has one. */
  #add(state: AgentState, account?: IrcAccount): Agent {
    const { nick, person = personOf(`nick ${casefold(nick)}`), channels, users, away } = state;
    const { connection, most, logger, heard, supersede } = this.#options;
    const webirc = introduction(person, this.#options.password);
    // a line that is still in hand when the gateway is stopped is said by who comes after us
    if (this.#stopped) throw new Unavailable('irc_unavailable', 'The gateway is being stopped');
    const before = this.find(nick);
    if (!before && this.#agents.size >= most) throw new Refusal('too_many_agents');
    if (before) {
      const leaving = before.stop('Coming again').finally(() => this.#replaced.delete(leaving));
      this.#replaced.add(leaving);
    }
    const agent = new Agent({
      nick,
      person,
      channels,
      users,
      away,
      logger,
      connection: {
        ...connection,
        realname: 'agent, through the gateway',
        webirc,
        // an earlier session of it may still be there, half open
        free: async () => {
          this.#requireHeld();
          if (this.find(nick) !== agent)
            throw new Unavailable('irc_unavailable', 'Another connection of it is there');
          return await supersede({ nick, host: webirc.hostname });
        },
        ...(account ? { account } : {}),
      },
      heard: (line) => heard(agent, line),
    });
    this.#agents.set(casefold(nick), agent);
    this.former.forget(nick);
    return agent;
  }

  /** Ends the connection of an agent that is not let in. It enters its channels when it is. */
  async #drop(agent: Agent, reason: string): Promise<void> {
    await this.#locks.run(casefold(agent.nick), async () => {
      if (this.find(agent.nick) !== agent) return;
      if (agent.channels.length > 0) this.#remember(agent, reason);
      await this.#remove(agent, reason);
    });
  }

  async #remove(agent: Agent | undefined, reason: string): Promise<void> {
    if (!agent || this.find(agent.nick) !== agent) return;
    this.#agents.delete(casefold(agent.nick));
    await agent.stop(reason);
  }

  /** Records where an agent is when its turn comes; nothing of one that has left by then. */
  async #record({ nick, person }: Agent, by: string): Promise<void> {
    await this.#inOrder(nick, async () => {
      const agent = this.find(nick);
      if (!agent || agent.person !== person) return;
      agent.recordedAt = clock.elapsed();
      const { channels, users, away } = agent;
      await this.#append(agent, by, { channels, open: true, reason: '', users: [...users], away });
    });
  }

  async #inOrder(nick: string, record: () => Promise<void>): Promise<void> {
    await this.#recording.run(casefold(nick), record);
  }

  /** Throws when another process may have the agents: what is done to ours changes nothing about theirs. */
  #requireHeld(): void {
    const { mayBegin } = this.#options.connection;
    if (mayBegin?.() === false)
      throw new Unavailable('irc_unavailable', 'Another process may have the agents');
  }

  async #append({ nick, person }: Pick<Agent, 'nick' | 'person'>, by: string, state: Place): Promise<void> {
    // who has the agents by now has read the record already
    this.#requireHeld();
    const fact = { type: 'connection.changed' as const, data: { nick, person, ...state } };
    await this.#options.log.append(connections, connectionSubject(nick), fact, { by });
  }
}

/** What is recorded of an agent, but for who it is. */
type Place = Omit<ConnectionState, 'nick' | 'person'>;

/** The place of an agent that is not on the network any more. */
const gone = (reason: string): Place => ({
  channels: [],
  open: false,
  reason,
  users: [],
  away: null,
});

const isRefusal = (error: unknown): error is Refusal => isExpected(error) && error.kind === 'refusal';

import type { Logger } from 'pino';
import { clock, pause } from '../../streams/core/clock.js';
import { isExpected, type Log, Refusal } from '../../streams/core/index.js';
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

/** What the agents' connections are made of. */
export interface AgentsOptions {
  log: Log;
  logger: Logger;
  /** Where the network is, and how it is reached. */
  connection: Pick<IrcConnectionOptions, 'url' | 'dial' | 'ca' | 'confirmTimeoutMs'>;
  /** What the IRC server knows the gateway by. */
  password: string;
  /** Ends the session that has a nick, if it comes from the host given: an older one of ours. */
  supersede(session: { nick: string; host: string }): Promise<unknown>;
  /** Agents on the network at once. */
  most: number;
  /** How long one may be silent, in milliseconds. */
  idleMs: number;
  /** Told what an agent hears that is no answer to it. */
  heard(agent: Agent, line: IrcLine): void;
}

/** Channels that one agent may be in. */
const mostChannels = 50;
/** Connections that are made anew at once after a takeover. */
const restoredAtOnce = 20;
const lookMs = 5_000;

/** The agents that are on the network through us; where each of them is is recorded, for who comes after us. */
export class Agents {
  readonly #options: AgentsOptions;
  /** By casefolded nick. */
  readonly #agents = new Map<string, Agent>();
  /** What is done to one agent is done one after the other. */
  readonly #locks = new KeyedLock();
  readonly #stop = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#agents.size;
  }

  /** Brings back who was on the network when the last holder ended, then ends the idle ones in time. */
  start(): void {
    this.#looking = this.#restore().then(() => this.#lookForIdle());
  }

  /** Ends all connections, without recording it: whoever comes after us brings them back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const end = () =>
      Promise.all([...this.#agents.values()].map((agent) => agent.stop('The gateway restarts')));
    // those that are still being brought back wait for their network no longer
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
      const kept = before && isSame(before, speaker) ? before.channels : [];
      this.#add(speaker, kept, password);
    });
  }

  /** Has it on the network, and that recorded. Throws like `Agent.session`; an agent of no use is let go. */
  async ready(speaker: Speaker): Promise<Agent> {
    const found = this.find(speaker.nick);
    // whoever proves a nick later is not who was on the network under it
    if (found && !isSame(found, speaker)) await this.#remove(found, 'The nick has another owner');
    const kept = this.find(speaker.nick);
    const agent = kept ?? this.#add(speaker, []);
    const isNew = kept === undefined;
    agent.usedAt = clock.elapsed();
    try {
      await agent.session();
    } catch (error) {
      if (isRefusal(error)) await this.#remove(agent, error.message);
      throw error;
    }
    if (isNew) await this.#record(agent, speaker.by, '');
    return agent;
  }

  async join(agent: Agent, channel: string, by: string): Promise<void> {
    if (agent.isIn(channel)) return;
    if (agent.channels.length >= mostChannels) throw new Refusal('too_many_channels');
    await agent.enter(channel);
    await this.#record(agent, by, '');
  }

  async part(agent: Agent, channel: string, by: string): Promise<void> {
    if (await agent.leave(channel, 'Leaving')) await this.#record(agent, by, '');
  }

  /** The network put it out of a channel. */
  async putOut(agent: Agent, channel: string): Promise<void> {
    if (agent.putOutOf(channel)) await this.#record(agent, 'gateway', '');
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

  #add(
    { nick, person = personOf(`nick ${casefold(nick)}`) }: Pick<Speaker, 'nick' | 'person'>,
    channels: readonly string[],
    password?: string,
  ): Agent {
    const { connection, most, logger, heard, supersede } = this.#options;
    const webirc = introduction(person, this.#options.password);
    if (this.#agents.size >= most) throw new Refusal('too_many_agents');
    const agent = new Agent({
      nick,
      person,
      channels,
      logger,
      connection: {
        ...connection,
        realname: 'agent, through the gateway',
        webirc,
        // who it was before may still be there, half open
        free: () => supersede({ nick, host: webirc.hostname }).catch(() => undefined),
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
    await this.#append(agent, by, { channels: agent.channels, open: true, reason });
  }

  async #append(
    { nick, person }: Agent,
    by: string,
    state: Omit<ConnectionState, 'nick' | 'person'>,
  ): Promise<void> {
    const fact = { type: 'connection.changed' as const, data: { nick, person, ...state } };
    await this.#options.log.append(speech, connectionSubject(nick), fact, { by });
  }

  async #restore(): Promise<void> {
    const { log, logger } = this.#options;
    const open = new Map<string, ConnectionState>();
    try {
      for await (const { type, data } of log.subject(speech, connectionSubjects)) {
        if (type !== 'connection.changed') continue;
        const key = casefold(data.nick);
        open.delete(key);
        if (data.open) open.set(key, data);
      }
    } catch (error) {
      logger.warn({ err: error }, 'agents are not brought back: each comes when it speaks');
    }
    const waiting = [...open.values()];
    const next = async () => {
      for (let state = waiting.shift(); state && !this.#stop.signal.aborted; state = waiting.shift()) {
        try {
          await (this.find(state.nick) ?? this.#add(state, state.channels)).session();
        } catch (error) {
          logger.info({ nick: state.nick, err: error }, 'agent not brought back');
          if (error instanceof Refusal)
            await this.close(state.nick, 'gateway', error.message).catch(() => {});
        }
      }
    };
    await Promise.all(Array.from({ length: restoredAtOnce }, next));
    if (open.size > 0) logger.info({ agents: this.count }, 'agents brought back');
  }

  async #lookForIdle(): Promise<void> {
    const { idleMs, logger } = this.#options;
    while (!this.#stop.signal.aborted) {
      await pause(Math.min(lookMs, idleMs), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      for (const agent of [...this.#agents.values()]) {
        if (clock.elapsed() - agent.usedAt < idleMs) continue;
        await this.close(agent.nick, 'gateway', 'Idle').catch((error) =>
          logger.warn({ nick: agent.nick, err: error }, 'an idle agent is let go later'),
        );
      }
    }
  }
}

/** Whether an agent is the one who speaks; an operator speaks for whoever it is. */
const isSame = (agent: Agent, { person }: Speaker): boolean =>
  person === undefined || person === agent.person;

const isRefusal = (error: unknown): error is Refusal => isExpected(error) && error.kind === 'refusal';

import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import type { Log } from '../../streams/core/index.js';
import { answerRequests, type Operations } from '../core/rpc.js';
import type { Agent } from './agent.js';
import { Agents, type AgentsOptions } from './agents.js';
import { EndedKeys, type LookForEnded } from './ended-keys.js';
import { Inbox } from './inbox.js';
import { Lines } from './lines.js';
import { OwnLines } from './own-lines.js';
import { OwnWebhooks } from './own-webhooks.js';
import {
  type AgentConnection,
  type ConnectRequest,
  type Gateway,
  gatewayOperations,
  gatewayService,
  type SayRequest,
  type Speaker,
} from './requests.js';
import { Upkeep, type UpkeepOptions } from './upkeep.js';

export { hostOf, personOf, personOfAgent } from './introduction.js';
export * from './requests.js';

/** What the gateway is made of. */
export interface SpeakForAgentsOptions
  extends Omit<AgentsOptions, 'heard'>,
    Omit<UpkeepOptions, 'agents' | 'keys' | 'webhooks'> {
  log: Log;
  logger: Logger;
  ended: LookForEnded;
  /** Nick of the bot that says who is meant by a group. */
  bridge: string;
  /** How long a line may wait to be said, in milliseconds; a minute by default. */
  ttlMs?: number;
  /** How long counts what was found of an agent's webhook, in milliseconds; a minute by default. */
  webhookMs?: number;
}

const usualWebhookMs = 60_000;

/**
 * Speaks for agents that have no IRC connection of their own: each has one here, under its own nick, and is on the network
 * as everybody is. Answers other processes' requests for as long as it runs.
 */
export class SpeakForAgents implements Gateway {
  readonly #options: SpeakForAgentsOptions;
  readonly #agents: Agents;
  readonly #upkeep: Upkeep;
  readonly #lines: Lines;
  readonly #inbox: Inbox;
  readonly #own: OwnLines;
  #answering: { stop(): Promise<void> } | undefined;

  constructor(options: SpeakForAgentsOptions) {
    const { log, logger, ttlMs } = options;
    this.#options = options;
    this.#own = new OwnLines(log, logger);
    this.#inbox = new Inbox(log, logger, options.bridge, this.#own);
    this.#agents = new Agents({
      ...options,
      heard: (agent, line) => {
        this.#inbox.take(agent, line);
        const [channel = '', nick = ''] = line.params;
        if (line.command === 'KICK' && nick === agent.nick)
          this.#noteKick(agent, channel, line.nick || line.hostname);
      },
    });
    const keys = new EndedKeys(options.ended, logger);
    const agents = this.#agents;
    const webhooks = new OwnWebhooks(log, logger, options.webhookMs ?? usualWebhookMs);
    this.#upkeep = new Upkeep({ ...options, agents, keys, webhooks });
    this.#lines = new Lines({ log, logger, agents, keys, own: this.#own, ...(ttlMs ? { ttlMs } : {}) });
  }

  /** Agents on the network through this process. */
  get count(): number {
    return this.#agents.count;
  }

  start(): void {
    this.#own.start();
    this.#upkeep.start();
    this.#lines.start();
    const { log, logger } = this.#options;
    const operations = Object.fromEntries(
      gatewayOperations.map((name) => [name, (wanted: never) => this[name](wanted)]),
    ) as unknown as Operations;
    this.#answering = answerRequests({ log, logger, service: gatewayService, operations });
  }

  /** Answers nobody any more, lets lines under way come to their end, and leaves the network. Bounded. */
  async stop(): Promise<void> {
    this.#agents.letNobodyIn();
    // requests under way get the ends of their lines, unless another process may say them
    const isSure = this.#options.connection.mayBegin?.() ?? true;
    const stopping = isSure ? undefined : this.#lines.stop();
    await this.#answering?.stop();
    await (stopping ?? this.#lines.stop());
    const { ended } = this.#upkeep.stop();
    // those that are still being brought back no longer wait for their network
    await this.#agents.stop();
    await ended;
    this.#inbox.stop();
  }

  say(line: SayRequest) {
    return this.#lines.ask(line);
  }

  async connect({ password, ...speaker }: ConnectRequest): Promise<AgentConnection> {
    if (password !== undefined) await this.#agents.identify(speaker, password);
    await this.#agents.ready(speaker);
    return await this.look(speaker);
  }

  async disconnect(speaker: Speaker): Promise<AgentConnection> {
    // also that of somebody who had the nick before: nobody speaks under it then
    this.#agents.owners.claim(speaker, this.#options.log.now());
    await this.#agents.close(speaker.nick, speaker.by, 'Leaving');
    return await this.look(speaker);
  }

  async look(speaker: Speaker): Promise<AgentConnection> {
    const agent = this.#agents.findOf(speaker);
    if (agent) agent.usedAt = clock.elapsed();
    return {
      connected: agent?.connected ?? false,
      nick: agent?.nick ?? speaker.nick,
      since: agent?.since?.toISOString() ?? null,
      identified: agent?.account !== undefined,
      channels: agent?.entered ?? [],
      away: agent?.away ?? null,
    };
  }

  async join({ channel, ...speaker }: Speaker & { channel: string }): Promise<AgentConnection> {
    const agent = await this.#agents.ready(speaker);
    await this.#agents.moves.askToJoin(agent, channel, speaker.by);
    return await this.look(speaker);
  }

  async part({ channel, ...speaker }: Speaker & { channel: string }): Promise<AgentConnection> {
    const agent = this.#agents.findOf(speaker);
    if (agent) await this.#agents.moves.part(agent, channel, speaker.by);
    return await this.look(speaker);
  }

  async away({ message, ...speaker }: Speaker & { message: string | null }): Promise<AgentConnection> {
    const agents = this.#agents;
    // who is not here is not away either
    const agent = message === null ? agents.findOf(speaker) : await agents.ready(speaker);
    if (agent) await agents.moves.setAway(agent, message, speaker.by);
    return await this.look(speaker);
  }

  #noteKick(agent: Agent, channel: string, by: string): void {
    const { logger } = this.#options;
    this.#agents
      .noteKick(agent, channel, by)
      .catch((err) => logger.warn({ err, nick: agent.nick, channel }, 'a kick was not recorded'));
  }
}

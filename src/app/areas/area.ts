import type { FastifyInstance } from 'fastify';
import type { Channels } from '../../../workers/channels/index.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { Config, Role } from '../../config/config.js';
import type { Gauged, Metrics } from '../../metrics/metrics.js';
import type { Call } from '../../operations/core/call.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { BotHold, BotParts } from '../bots/bot.js';
import type { Dependencies } from '../dependencies.js';

/** The parts that the areas of the service are built from. */
export interface AreaParts extends BotParts, Pick<Dependencies, 'hasNickService'> {
  config: Config;
  readModels: ReadModels;
  /** The commands of the channel service, whichever process carries them out. */
  channels: Channels;
  keys: ApiKeys;
  metrics: Metrics;
  /** Calls operations, here or where their service runs. */
  call: Call;
  startedAt: Date;
}

/** Background work of a process; a `Lease` is one. */
export interface Work {
  start(): void;
  stop(): Promise<void>;
}

/** One area of the service: what it answers, in which roles, and its background work. */
export interface Area {
  /** What its operations work with. */
  parts?: object;
  /** Registers its public routes: role `api`. */
  api?(server: FastifyInstance): Promise<void>;
  /** Role `irc`. */
  bots?: BotHold<unknown>[];
  /** Role `irc`, without a bot of its own. */
  connections?: Work[];
  /** Role `workers`. */
  workers?: Work[];
  /** Role `schedule`. */
  schedules?: Work[];
  /** What it measures when somebody asks, in processes with the role. */
  gauged?: (Gauged & { role: Role })[];
  /** Ends what it began when it was made. */
  stop?(): Promise<void>;
}

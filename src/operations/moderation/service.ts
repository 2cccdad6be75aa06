import { z } from 'zod';
import {
  moderationCounts,
  moderationIncidents,
  moderationReputation,
} from '../../../projections/moderation/queries.js';
import { ircChannels, privateIrcChannels } from '../../../projections/network/queries.js';
import type { Log } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import type { ReadModels } from '../../stores/read-models.js';
import { nickKey } from '../core/names.js';
import { parseInput } from '../core/validation.js';
import { type IrcState, ircStateView, troubleView } from '../network/irc-state.js';

/** What the moderation service answers. `private=true` is for callers that may see private channels. */
export const guardianRoutes = {
  statistics: { method: 'GET', path: '/api/stats' },
  incidents: { method: 'GET', path: '/api/incidents' },
  reputation: { method: 'GET', path: '/api/reputation/:nick' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the moderation service works with. */
export interface GuardianOptions {
  log: Log;
  readModels: ReadModels;
  /** State of the bot that acts on the network, in whichever process it is. */
  irc: () => Promise<IrcState | undefined>;
  /** Channels whose lines are not scored. */
  ignored: readonly string[];
  startedAt: Date;
}

/** The contract's moderation statistics as the internal service spells them. */
export interface GuardianStatistics {
  total_incidents: number;
  today: number;
  by_level: { log: number; warning: number; mute: number; kick: number; ban: number };
  top_offenders: { nick: string; incidents: number }[];
  irc: IrcState | { connected: false; oper: false; nick: null };
  monitored_channels: string[];
  /** Seconds since this process began. */
  uptime: number;
}

const Visibility = z.object({ private: z.literal('true').optional() });
/** Which incidents are asked for. */
export const IncidentsQuery = Visibility.extend({
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** The moderation service: what looked like an attack, what was done about it, and by whom it was said. */
export function createGuardian(options: GuardianOptions): Service<typeof guardianRoutes> {
  const { log, readModels } = options;
  const ignored = new Set(options.ignored.map(casefold));
  const read: Read = (query) => readModels.read('moderation', query);
  const state = () => options.irc().catch(() => undefined);

  async function channels(): Promise<string[]> {
    const rows = await readModels.read('irc_network', (sql, schema) => ircChannels(sql, schema, false));
    return rows.map(({ name }) => name);
  }

  /** Private channels, of which the public is not told; `undefined` for those who may see everything. */
  async function hiddenFrom({ query }: Input): Promise<string[] | undefined> {
    if (parseInput(Visibility, query ?? {}).private) return undefined;
    return await readModels.read('irc_network', privateIrcChannels);
  }

  async function statistics(): Promise<GuardianStatistics> {
    const [{ total, today, byLevel, topOffenders }, monitored, irc] = await Promise.all([
      read((sql, schema) => moderationCounts(sql, schema, log.now())),
      channels(),
      state(),
    ]);
    return {
      total_incidents: total,
      today,
      by_level: {
        log: byLevel.LOG,
        warning: byLevel.WARN,
        mute: byLevel.MUTE,
        kick: byLevel.KICK,
        ban: byLevel.BAN,
      },
      top_offenders: topOffenders,
      irc: irc ? ircStateView(irc) : { connected: false, oper: false, nick: null },
      monitored_channels: monitored.filter((name) => !ignored.has(casefold(name))),
      uptime: uptime(),
    };
  }

  const uptime = () => Math.round((Date.now() - options.startedAt.getTime()) / 1_000);

  return {
    statistics: async () => ok(await statistics()),
    incidents: async (input = {}) => {
      const { limit } = parseInput(IncidentsQuery, input.query ?? {});
      const hidden = await hiddenFrom(input);
      return ok({
        incidents: await read((sql, schema) => moderationIncidents(sql, schema, limit, hidden)),
      });
    },
    reputation: async (input = {}) => {
      const nick = nickKey(input);
      const hidden = await hiddenFrom(input);
      const found = await read((sql, schema) => moderationReputation(sql, schema, nick, hidden));
      return ok({
        reputation: found?.reputation ?? null,
        recent_incidents: found?.recentIncidents ?? [],
      });
    },
    health: async () => {
      const irc = await state();
      const counts = await read((sql, schema) => moderationCounts(sql, schema, log.now())).catch(
        () => undefined,
      );
      return ok({
        status: irc?.connected && irc.oper && counts ? 'ok' : 'degraded',
        irc: irc ? ircStateView(irc) : { connected: false, oper: false, nick: null },
        ...troubleView(irc),
        ...(counts ? { stats: { total_incidents: counts.total, today: counts.today } } : {}),
        uptime: uptime(),
      });
    },
  };
}

type Read = <T>(query: Parameters<typeof ReadModels.prototype.read<T>>[1]) => Promise<T>;

const ok = (body: unknown): Reply => ({ status: 200, body });

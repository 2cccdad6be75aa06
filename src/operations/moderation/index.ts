import { z } from 'zod';
import {
  moderationCounts,
  moderationIncidents,
  moderationReputation,
} from '../../../projections/moderation/queries.js';
import { ircChannels, privateIrcChannels } from '../../../projections/network/queries.js';
import type { Log } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { levels } from '../../../streams/moderation/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { type Caller, seesPrivate } from '../core/caller.js';
import { Time } from '../core/description.js';
import { Nick } from '../core/names.js';
import { defineOperation } from '../core/operation.js';
import { type IrcState, ircStateView, troubleView } from '../network/irc-state.js';
import { listIncidentRecords, pardonIncident } from './records.js';

/** What the operations of moderation work with. */
export interface ModerationParts {
  log: Log;
  readModels: ReadModels;
  startedAt: Date;
  moderation: {
    /** State of the bot that acts on the network, in whichever process it is; `undefined` where that is not known. */
    irc(): Promise<IrcState | undefined>;
    /** Casefolded names of the channels whose lines are not scored. */
    ignored: ReadonlySet<string>;
  };
}

const Incident = z
  .object({
    id: z.int(),
    nick: z.string(),
    channel: z.string(),
    score: z.number().describe('0 to 100'),
    level: z.enum(levels),
    patterns: z.string().describe('Rules that matched, with commas between them'),
    created_at: Time,
  })
  .meta({ id: 'ModerationIncident' });
const Reputation = z
  .object({
    nick: z.string(),
    incident_count: z.int(),
    warn_count: z.int(),
    mute_count: z.int(),
    kick_count: z.int(),
    ban_count: z.int(),
    last_incident_at: Time.nullable(),
  })
  .nullable();
const incident = {
  id: 3,
  nick: 'mallory',
  channel: '#lobby',
  score: 55,
  level: 'WARN',
  patterns: 'override',
  created_at: '2026-01-31T12:00:00.000Z',
};

/** Private channels, of which the public is not told; `undefined` for those who may see everything. */
async function hiddenFrom(caller: Caller, { readModels }: ModerationParts): Promise<string[] | undefined> {
  return seesPrivate(caller) ? undefined : await readModels.read('irc_network', privateIrcChannels);
}

const counts = ({ log, readModels }: ModerationParts) =>
  readModels.read('moderation', (sql, schema) => moderationCounts(sql, schema, log.now()));

/** How the bot is that acts, and for how many seconds this process is there. */
const presence = (irc: IrcState | undefined, { startedAt }: ModerationParts) => ({
  irc: irc ? ircStateView(irc) : { connected: false, oper: false, nick: null },
  uptime: Math.round((Date.now() - startedAt.getTime()) / 1_000),
});

async function statisticsOf(parts: ModerationParts) {
  const { readModels, moderation } = parts;
  const [{ total, today, byLevel, topOffenders }, channels, irc] = await Promise.all([
    counts(parts),
    readModels.read('irc_network', (sql, schema) => ircChannels(sql, schema, false)),
    moderation.irc(),
  ]);
  const { LOG: log, WARN: warning, MUTE: mute, KICK: kick, BAN: ban } = byLevel;
  const names = channels.map(({ name }) => name);
  return {
    ...{ total_incidents: total, today, by_level: { log, warning, mute, kick, ban } },
    top_offenders: topOffenders,
    monitored_channels: names.filter((name) => !moderation.ignored.has(casefold(name))),
    ...presence(irc, parts),
  };
}

/** The contract spells the statistics otherwise outside than inside. */
function publicStatistics(inner: Awaited<ReturnType<typeof statisticsOf>>) {
  const { log, warning, mute, kick, ban } = inner.by_level;
  return {
    totalIncidents: inner.total_incidents,
    today: inner.today,
    byLevel: { LOG: log, WARN: warning, MUTE: mute, KICK: kick, BAN: ban },
    topOffenders: inner.top_offenders,
    irc: inner.irc,
    monitoredChannels: inner.monitored_channels,
    uptime: inner.uptime,
  };
}

/** How much there was to moderate. */
export const getModerationStatistics = defineOperation({
  id: 'getModerationStatistics',
  tag: 'Moderation',
  summary: 'How much there was to moderate',
  access: 'open, more with a key',
  answers: {
    200: {
      says: 'Numbers of incidents',
      body: {
        schema: z.object({
          totalIncidents: z.int(),
          today: z.int().describe('Since 00:00 UTC'),
          byLevel: z.object(Object.fromEntries(levels.map((level) => [level, z.int()]))),
          topOffenders: z.array(z.looseObject({ nick: z.string(), incidents: z.int() })),
          irc: z.looseObject({ connected: z.boolean(), oper: z.boolean(), nick: z.string().nullable() }),
          monitoredChannels: z.array(z.string()),
          uptime: z.number().describe('Seconds'),
        }),
        example: {
          totalIncidents: 3,
          today: 1,
          byLevel: { LOG: 1, WARN: 2, MUTE: 0, KICK: 0, BAN: 0 },
          topOffenders: [{ nick: 'mallory', incidents: 3 }],
          irc: { connected: true, oper: true, nick: 'channelserv' },
          monitoredChannels: ['#lobby'],
          uptime: 86_400,
        },
      },
    },
  },
  http: { method: 'get', path: '/guardian/stats', view: publicStatistics },
  tool: {
    name: 'svc_guardian_stats',
    title: 'Moderation statistics',
    description:
      'How many incidents moderation has recorded, by level (log, warning, mute, kick, ban), today and in all, and who caused most of them.',
    output: z.looseObject({
      total_incidents: z.int(),
      by_level: z.looseObject({}),
      top_offenders: z.array(z.looseObject({})),
    }),
    walletReadable: true,
  },
  remote: { service: 'guardian', method: 'get', path: '/api/stats' },
  run: async (_input, _caller, parts: ModerationParts) => await statisticsOf(parts),
});

/** The newest incidents. */
export const listModerationIncidents = defineOperation({
  id: 'listModerationIncidents',
  tag: 'Moderation',
  summary: 'The newest incidents',
  description: 'Those in private channels are shown to holders of an API key only.',
  access: 'open, more with a key',
  input: z.object({ limit: z.int().min(1).max(200).default(50).describe('How many incidents at most') }),
  answers: {
    200: {
      says: 'Newest first',
      body: { schema: z.object({ incidents: z.array(Incident) }), example: { incidents: [incident] } },
    },
  },
  http: { method: 'get', path: '/guardian/incidents' },
  tool: {
    name: 'svc_guardian_incidents',
    title: 'Moderation incidents',
    description:
      'The newest moderation incidents: who, where, score of 0 to 100, level and the rules that matched. Use it to see what injection attempts look like here.',
    output: z.looseObject({ incidents: z.array(z.looseObject({})) }),
  },
  remote: { service: 'guardian', method: 'get', path: '/api/incidents' },
  run: async ({ limit }, caller, parts: ModerationParts) => {
    const hidden = await hiddenFrom(caller, parts);
    const incidents = await parts.readModels.read('moderation', (sql, schema) =>
      moderationIncidents(sql, schema, limit, hidden),
    );
    return { incidents };
  },
});

/** What moderation holds against a nick. */
export const getModerationReputation = defineOperation({
  id: 'getModerationReputation',
  tag: 'Moderation',
  summary: 'What moderation holds against a nick',
  access: 'open, more with a key',
  input: z.object({ nick: Nick }),
  example: { nick: 'mallory' },
  answers: {
    200: {
      says: 'Its record; null where there is none',
      body: {
        schema: z.object({ reputation: Reputation, recentIncidents: z.array(Incident) }),
        example: {
          reputation: {
            nick: 'mallory',
            incident_count: 1,
            warn_count: 1,
            mute_count: 0,
            kick_count: 0,
            ban_count: 0,
            last_incident_at: '2026-01-31T12:00:00.000Z',
          },
          recentIncidents: [incident],
        },
      },
    },
  },
  http: {
    method: 'get',
    path: '/guardian/reputation/{nick}',
    view: (inner: { reputation: unknown; recent_incidents: unknown }) => ({
      reputation: inner.reputation,
      recentIncidents: inner.recent_incidents,
    }),
  },
  tool: {
    name: 'svc_guardian_reputation',
    title: 'Moderation record of a nick',
    description: 'How often a nick was warned, muted, kicked and banned, and its latest incidents.',
    output: z.looseObject({ reputation: z.looseObject({}).nullable() }),
  },
  remote: { service: 'guardian', method: 'get', path: '/api/reputation/{nick}' },
  run: async ({ nick }, caller, parts: ModerationParts) => {
    const hidden = await hiddenFrom(caller, parts);
    const found = await parts.readModels.read('moderation', (sql, schema) =>
      moderationReputation(sql, schema, casefold(nick), hidden),
    );
    return { reputation: found?.reputation ?? null, recent_incidents: found?.recentIncidents ?? [] };
  },
});

/** Whether moderation is well. */
export const getModerationHealth = defineOperation({
  id: 'getModerationHealth',
  remote: { service: 'guardian', method: 'get', path: '/health' },
  run: async (_input, _caller, parts: ModerationParts) => {
    const [irc, counted] = await Promise.all([parts.moderation.irc(), counts(parts).catch(() => undefined)]);
    return {
      status: irc?.connected && irc.oper && counted ? 'ok' : 'degraded',
      ...troubleView(irc),
      ...(counted ? { stats: { total_incidents: counted.total, today: counted.today } } : {}),
      ...presence(irc, parts),
    };
  },
});

/** What moderation saw and did, and its correction. */
export const moderationOperations = [
  getModerationStatistics,
  listModerationIncidents,
  getModerationReputation,
  getModerationHealth,
  listIncidentRecords,
  pardonIncident,
];

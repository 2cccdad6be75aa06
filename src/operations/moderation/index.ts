import { z } from 'zod';
import {
  moderationCounts,
  moderationIncidents,
  moderationReputation,
} from '../../../projections/moderation/queries.js';
import { ircChannels } from '../../../projections/network/queries.js';
import type { Log } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { levels, moderation } from '../../../streams/moderation/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { seesPrivate } from '../core/call.js';
import { channelName, limit, Nick, seconds, Time, text } from '../core/fields.js';
import { healthOf, type IrcState, ircStateView, secondsSince, troubleView } from '../core/health.js';
import { type Caller, operationsOf } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { hiddenFrom } from './hidden.js';
import { Incident } from './incident.js';
import { appealIncident, declineAppeal, listIncidentRecords, pardonIncident } from './records.js';

const define = operationsOf({ tag: 'Moderation', access: moreWithKey });

/** What the operations of moderation work with. */
export interface ModerationParts {
  log: Log;
  readModels: ReadModels;
  startedAt: Date;
  moderation: {
    /**
     * State of the bot that acts on the network, in whichever process it is; `undefined` if it is not known.
     */
    irc(): Promise<IrcState | undefined>;
    /** Casefolded names of the channels whose lines are not scored. */
    ignored: ReadonlySet<string>;
  };
}

const mallory = text('mallory');
const none = z.int().meta({ example: 0 });
const Reputation = z
  .object({
    nick: mallory,
    incident_count: z.int(),
    warn_count: z.int(),
    mute_count: none,
    kick_count: none,
    ban_count: none,
    last_incident_at: Time.nullable(),
  })
  .nullable();

const counts = ({ log, readModels }: ModerationParts, withPrivate: boolean) =>
  readModels.read('moderation', (sql, schema) => moderationCounts(sql, schema, log.now(), withPrivate));

/** The state of the acting bot, and the uptime of this process in seconds. */
const presence = (irc: IrcState | undefined, { startedAt }: ModerationParts) => ({
  irc: ircStateView(irc),
  uptime: secondsSince(startedAt),
});

async function statisticsOf(parts: ModerationParts, caller: Caller) {
  const { readModels, moderation } = parts;
  const [{ total, today, byLevel, topOffenders }, channels, irc] = await Promise.all([
    counts(parts, seesPrivate(caller)),
    readModels.read('irc_network', (sql, schema) => ircChannels(sql, schema, false)),
    moderation.irc(),
  ]);
  const { LOG: log, WARN: warning, MUTE: mute, KICK: kick, BAN: ban } = byLevel;
  const names = channels.map(({ name }) => name);
  return {
    total_incidents: total,
    today,
    by_level: { log, warning, mute, kick, ban },
    top_offenders: topOffenders,
    monitored_channels: names.filter((name) => !moderation.ignored.has(casefold(name))),
    ...presence(irc, parts),
  };
}

/** The contract spells the statistics in one way outside and in another inside. */
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
export const getModerationStatistics = define('getModerationStatistics', {
  summary: 'How much there was to moderate',
  description: 'What happened in private channels counts for holders of an API key only.',
  says: 'Numbers of incidents',
  output: z.object({
    totalIncidents: z.int(),
    today: z.int().describe('Since 00:00 UTC'),
    byLevel: z.object(Object.fromEntries(levels.map((level) => [level, z.int()]))),
    topOffenders: z.array(z.looseObject({ nick: mallory, incidents: z.int() })),
    irc: z.looseObject({ connected: z.boolean(), oper: z.boolean(), nick: text('channelserv').nullable() }),
    monitoredChannels: z.array(channelName),
    uptime: seconds,
  }),
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
  run: async (_input, caller, parts: ModerationParts) => await statisticsOf(parts, caller),
});

/** The newest incidents. */
export const listModerationIncidents = define('listModerationIncidents', {
  summary: 'The newest incidents',
  description: 'Those in private channels are shown to holders of an API key only.',
  input: z.object({ limit: limit(200, 50, 'incidents') }),
  says: 'Newest first',
  output: z.object({ incidents: z.array(Incident) }),
  http: { method: 'get', path: '/guardian/incidents' },
  tool: {
    name: 'svc_guardian_incidents',
    title: 'Moderation incidents',
    description:
      'The newest moderation incidents: who, where, score of 0 to 100, level and the rules that matched.',
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
export const getModerationReputation = define('getModerationReputation', {
  summary: 'What moderation holds against a nick',
  input: z.object({ nick: Nick }),
  says: 'Its record; null without one',
  output: z.object({ reputation: Reputation, recentIncidents: z.array(Incident) }),
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
export const getModerationHealth = define('getModerationHealth', {
  remote: healthOf('guardian'),
  run: async (_input, _caller, parts: ModerationParts) => {
    const [irc, counted] = await Promise.all([
      parts.moderation.irc(),
      counts(parts, false).catch(() => undefined),
    ]);
    // without its record, nothing is done about attacks
    const unrecorded = parts.log.troubleOf(moderation);
    return {
      status: irc?.connected && irc.oper && counted && unrecorded === undefined ? 'ok' : 'degraded',
      ...(unrecorded === undefined ? troubleView(irc) : { reason: unrecorded }),
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
  declineAppeal,
  appealIncident,
];

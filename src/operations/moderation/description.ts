import { z } from 'zod';
import { type Description, nickParam, Time } from '../../openapi/description.js';

const levels = ['LOG', 'WARN', 'MUTE', 'KICK', 'BAN'] as const;
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
const incident = {
  id: 3,
  nick: 'mallory',
  channel: '#lobby',
  score: 55,
  level: 'WARN',
  patterns: 'override',
  created_at: '2026-01-31T12:00:00.000Z',
};
const badKey = { 401: 'The API key that was sent is not known' };

/** What moderation saw and did. */
export const moderationOperations: Description[] = [
  {
    id: 'getModerationStatistics',
    method: 'get',
    path: '/guardian/stats',
    tag: 'Moderation',
    summary: 'How much there was to moderate',
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
    errors: badKey,
  },
  {
    id: 'listModerationIncidents',
    method: 'get',
    path: '/guardian/incidents',
    tag: 'Moderation',
    summary: 'The newest incidents',
    description: 'Those in private channels are shown to holders of an API key only.',
    query: z.object({
      limit: z.coerce.number().int().min(1).max(200).default(50).describe('How many incidents at most'),
    }),
    answers: {
      200: {
        says: 'Newest first',
        body: { schema: z.object({ incidents: z.array(Incident) }), example: { incidents: [incident] } },
      },
    },
    errors: badKey,
  },
  {
    id: 'getModerationReputation',
    method: 'get',
    path: '/guardian/reputation/{nick}',
    tag: 'Moderation',
    summary: 'What moderation holds against a nick',
    params: { nick: nickParam },
    answers: {
      200: {
        says: 'Its record; null where there is none',
        body: {
          schema: z.object({
            reputation: z
              .object({
                nick: z.string(),
                incident_count: z.int(),
                warn_count: z.int(),
                mute_count: z.int(),
                kick_count: z.int(),
                ban_count: z.int(),
                last_incident_at: Time.nullable(),
              })
              .nullable(),
            recentIncidents: z.array(Incident),
          }),
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
    errors: { 400: 'That is no nick', ...badKey },
  },
];

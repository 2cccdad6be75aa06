import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { certificateViews } from '../../../projections/incidents/certificates.js';
import {
  consensusOn,
  consensusView,
  contributionsOf,
  incidentStatistics,
  listIncidents,
  newIncident,
  showIncident,
} from '../../../projections/incidents/queries.js';
import { alertTiers } from '../../../streams/certificates/index.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import {
  contributionTypes,
  type IncidentCommand,
  incidentDecider,
  incidentStatuses,
  incidents,
  isIncidentId,
  severities,
  statusOf,
} from '../../../streams/incidents/index.js';
import type { Endpoint } from '../../../workers/certificates/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { Nick, nickKey } from '../core/names.js';
import { parseInput } from '../core/validation.js';

export const sentinelRoutes = {
  list: { method: 'GET', path: '/api/incidents' },
  report: { method: 'POST', path: '/api/incidents' },
  show: { method: 'GET', path: '/api/incidents/:id' },
  vote: { method: 'POST', path: '/api/incidents/:id/vote' },
  consensus: { method: 'GET', path: '/api/incidents/:id/consensus' },
  statistics: { method: 'GET', path: '/api/stats' },
  contributions: { method: 'GET', path: '/api/contributions/:nick' },
  certificates: { method: 'GET', path: '/api/cert-status' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the security consensus service works with. */
export interface SentinelOptions {
  log: Log;
  readModels: ReadModels;
  /** TLS endpoints whose certificates are watched. */
  endpoints: readonly Endpoint[];
  startedAt: Date;
}

const mostListed = 100;
/** Of one incident, or of one nick, so many contributions are shown, the newest first. */
const mostContributions = 100;

const text = (max: number) => z.string().trim().min(1).max(max);
const texts = z.array(text(2_000)).max(50).default([]);
const link = z
  .string()
  .max(2_000)
  .refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), 'must be an http or https address');

/** The contract’s body of a report. */
export const ReportBody = z.object({
  title: text(200),
  severity: z.enum(severities),
  category: text(100).nullish(),
  affected: texts,
  description: text(10_000).nullish(),
  fixes: texts,
  sourcePosts: texts,
  advisoryUrls: z.array(link).max(50).default([]),
  reporterNick: Nick.nullish(),
});
/** The contract’s body of a vote. */
export const VoteBody = z.object({
  voterNick: Nick,
  score: z.int().min(0).max(100),
  evidenceUrl: link.nullish(),
  comment: text(2_000).nullish(),
  contributionType: z.enum(contributionTypes).default('confirmation'),
});
/** Which incidents are asked for. */
export const ListQuery = z.object({
  status: z.enum(incidentStatuses).optional(),
  severity: z.enum(severities).optional(),
  limit: z.coerce.number().int().min(1).max(mostListed).default(20),
});

/** Security incidents: takes reports and votes on them, and tells what the voters make of each one. */
export function createSentinel(options: SentinelOptions): Service<typeof sentinelRoutes> {
  const { log, endpoints, startedAt } = options;
  const rows = new OwnReadModel(options.readModels, 'incidents');
  const locks = new KeyedLock();

  /** Commands about one incident take turns in this process, so that only other processes can be in their way. */
  const handle = (command: IncidentCommand, by: string) =>
    locks.run(command.id, async () => {
      const done = await log.handle(incidents, incidentDecider, command, { by });
      rows.wrote(done.position);
      return done;
    });

  async function report({ body, actor = 'api' }: Input = {}): Promise<Reply> {
    const { reporterNick, category, description, ...rest } = parseInput(ReportBody, body);
    const id = newIncidentId();
    const command = {
      ...{ is: 'report' as const, id, ...rest },
      category: category ?? null,
      description: description ?? null,
      reporter: reporterNick ?? actor,
    };
    const { position } = await handle(command, actor);
    // when the log stored it; what was reported is not to be refused because that cannot be asked now
    const recorded = await log.at(incidents, position.seq).catch(() => undefined);
    return { status: 201, body: newIncident(command, recorded?.at ?? log.now()) };
  }

  async function show(id: string) {
    const incident = await rows.read((sql, schema) => showIncident(sql, schema, id, mostContributions));
    if (!incident) throw incidentNotFound();
    return incident;
  }

  async function vote(input: Input = {}): Promise<Reply> {
    const id = idOf(input);
    const { voterNick: voter, evidenceUrl, comment, ...rest } = parseInput(VoteBody, input.body);
    const command: IncidentCommand = {
      ...{ is: 'vote', id, voter, ...rest },
      evidenceUrl: evidenceUrl ?? null,
      comment: comment ?? null,
    };
    const { tally } = (await handle(command, input.actor ?? 'api')).state;
    return ok({ recorded: true, consensus: consensusView(id, statusOf(tally), tally) });
  }

  const statistics = () => rows.read(incidentStatistics);

  return {
    list: async ({ query } = {}) => {
      const asked = parseInput(ListQuery, query ?? {});
      return ok(await rows.read((sql, schema) => listIncidents(sql, schema, asked)));
    },
    report,
    show: async (input = {}) => ok(await show(idOf(input))),
    vote,
    consensus: async (input = {}) => {
      const id = idOf(input);
      const consensus = await rows.read((sql, schema) => consensusOn(sql, schema, id));
      if (!consensus) throw incidentNotFound();
      return ok(consensus);
    },
    statistics: async () => ok(await statistics()),
    contributions: async (input = {}) => {
      const nick = nickKey(input);
      const found = await rows.read((sql, schema) => contributionsOf(sql, schema, nick, mostContributions));
      return ok({ nick, ...found });
    },
    certificates: async () => {
      const certs = await rows.read((sql, schema) => certificateViews(sql, schema, endpoints, log.now()));
      return ok({ hosts: endpoints.map(placeOf), certs, alertTiers });
    },
    health: async () => {
      const stats = await statistics().catch(() => undefined);
      return ok({
        status: log.connected && stats ? 'ok' : 'degraded',
        ...(stats ? { incidents: stats.incidents, votes: stats.votes } : {}),
        uptime: Math.round((Date.now() - startedAt.getTime()) / 1000),
      });
    },
  };
}

/** TLS endpoints from `host:port` texts. */
export function endpointsOf(places: readonly string[]): Endpoint[] {
  return [...new Set(places.map((place) => place.toLowerCase()))].map((place) => {
    const colon = place.lastIndexOf(':');
    return { host: place.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(place.slice(colon + 1)) };
  });
}

const placeOf = ({ host, port }: Endpoint): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const ok = (body: unknown): Reply => ({ status: 200, body });

const idLetters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Short enough to be said on IRC, and one of so many that no two are alike. */
function newIncidentId(): string {
  return `inc-${[...randomBytes(8)].map((byte) => idLetters[byte % idLetters.length]).join('')}`;
}

function idOf({ params }: Input): string {
  const id = params?.id ?? '';
  if (!isIncidentId(id)) throw incidentNotFound();
  return id;
}

function incidentNotFound(): Refusal {
  return new Refusal('not_found', 'Incident not found');
}

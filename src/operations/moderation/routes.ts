import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiKeys } from '../../auth/api-keys.js';
import { inputSeenBy } from '../../http/input.js';
import { sendReply } from '../../remote/mount.js';
import type { Reply, Service } from '../../remote/service.js';
import type { GuardianStatistics, guardianRoutes } from './service.js';

/** What the public moderation routes work with. */
export interface GuardianApiOptions {
  guardian: Service<typeof guardianRoutes>;
  keys: ApiKeys;
}

/** `/guardian/*`: incidents and those who caused them, for everybody; those in private channels for holders of a key. */
export async function guardianApi(
  app: FastifyInstance,
  { guardian, keys }: GuardianApiOptions,
): Promise<void> {
  const seenBy = (request: FastifyRequest) => inputSeenBy(request, keys.identify(request) !== undefined);

  app.get('/guardian/stats', async (request, reply) =>
    sendReply(reply, spelledPublicly(await guardian.statistics(seenBy(request)), statisticsView)),
  );
  app.get('/guardian/incidents', async (request, reply) =>
    sendReply(reply, await guardian.incidents(seenBy(request))),
  );
  app.get('/guardian/reputation/:nick', async (request, reply) =>
    sendReply(reply, spelledPublicly(await guardian.reputation(seenBy(request)), reputationView)),
  );
}

/** The contract spells these answers otherwise inside than outside; errors pass as they are. */
function spelledPublicly<Body>(reply: Reply, view: (body: Body) => object): Reply {
  return reply.status === 200 ? { ...reply, body: view(reply.body as Body) } : reply;
}

function statisticsView(body: GuardianStatistics): object {
  const { log, warning, mute, kick, ban } = body.by_level;
  return {
    totalIncidents: body.total_incidents,
    today: body.today,
    byLevel: { LOG: log, WARN: warning, MUTE: mute, KICK: kick, BAN: ban },
    topOffenders: body.top_offenders,
    irc: body.irc,
    monitoredChannels: body.monitored_channels,
    uptime: body.uptime,
  };
}

function reputationView(body: { reputation: unknown; recent_incidents: unknown[] }): object {
  return { reputation: body.reputation, recentIncidents: body.recent_incidents };
}

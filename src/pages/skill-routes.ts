import type { FastifyInstance } from 'fastify';
import { places } from './discovery/doors.js';
import type { Skill } from './discovery/skill.js';
import { documentOf, sendDocument } from './documents-routes.js';

const type = 'text/markdown; charset=utf-8';

/** `/skill.md`, `/skill/version` and the skill's other files. */
export async function skillRoutes(app: FastifyInstance, { skill }: { skill: Skill }): Promise<void> {
  app.get(places.skillVersion, () => skill.version());
  app.get(places.skill, async (request, reply) =>
    sendDocument(request, reply, documentOf({ type, text: await skill.file() })),
  );
  app.get<{ Params: { file: string } }>('/skill/:file', async (request, reply) =>
    sendDocument(request, reply, documentOf({ type, text: await skill.file(request.params.file) })),
  );
}

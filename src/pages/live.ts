import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Description } from '../operations/core/description.js';
import { places } from './discovery/doors.js';
import { pageOf } from './page.js';

/** `/irc/live`, as the API describes it. */
export const livePageDescription: Description = {
  id: 'showLivePage',
  method: 'get',
  path: places.live,
  tag: 'IRC',
  summary: 'A page to watch a channel in a browser',
  description: 'It shows the lines of a public channel as they are said. Programs read `GET /irc/stream`.',
  answers: {
    200: { says: 'The page', type: 'text/html', body: { schema: z.string(), example: '<!doctype html>' } },
  },
};

/** `/irc/live`: a page to watch a channel in a browser. */
export async function livePageRoutes(app: FastifyInstance): Promise<void> {
  const { html, headers } = pageOf('live.html');
  app.get(livePageDescription.path, async (_request, reply) => reply.headers(headers).send(html));
}

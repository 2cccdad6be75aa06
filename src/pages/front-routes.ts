import type { FastifyInstance } from 'fastify';
import type { Doors } from './discovery/doors.js';
import { places } from './discovery/doors.js';
import { frontPage } from './discovery/front.js';
import { documentOf, sendDocument } from './documents-routes.js';
import { pageOf } from './page.js';

/** `/`: a page to look at for browsers, and one of Markdown for everybody else. */
export async function frontRoutes(app: FastifyInstance, { doors }: { doors: Doors }): Promise<void> {
  const markdown = documentOf({ type: 'text/markdown; charset=utf-8', text: frontPage(doors) });
  const { mcp, skill } = doors.at;
  const irc = doors.irc === '' ? 'ask the operator' : doors.irc;
  const { html, headers } = pageOf('front.html', { irc, mcp, skill, base_url: doors.publicUrl });
  app.get(places.front, async (request, reply) => {
    reply.header('vary', 'accept');
    if (!wantsHtml(request.headers.accept)) return sendDocument(request, reply, markdown);
    return reply.headers(headers).send(html);
  });
}

/** Whether a header Accept names HTML, and not Markdown before it. */
export function wantsHtml(accept = ''): boolean {
  const [html, markdown] = ['text/html', 'text/markdown'].map((type) => accept.toLowerCase().indexOf(type));
  return html! >= 0 && (markdown! < 0 || html! < markdown!);
}

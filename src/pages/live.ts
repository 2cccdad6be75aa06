import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Description } from '../operations/core/description.js';
import { projectDir } from '../servers/binaries.js';

const html = readFileSync(join(projectDir, 'src', 'pages', 'live.html'), 'utf8');

/** `/irc/live`, as the API describes it. */
export const livePageDescription: Description = {
  id: 'showLivePage',
  method: 'get',
  path: '/irc/live',
  tag: 'IRC',
  summary: 'A page to watch a channel in a browser',
  answers: {
    200: { says: 'The page', type: 'text/html', body: { schema: z.string(), example: '<!doctype html>' } },
  },
};

/** `/irc/live`: a page to watch a channel in a browser. */
export async function livePageRoutes(app: FastifyInstance): Promise<void> {
  app.get(livePageDescription.path, async (_request, reply) =>
    reply.headers(livePage.headers).send(livePage.html),
  );
}

/** The page on which people watch the network, and the headers that let nothing into it but what it came with. */
const livePage = {
  html,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${hashOf('script')}`,
      `style-src ${hashOf('style')}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  },
};

/** What a browser compares with what stands between the tags of the page's only element of this kind. */
function hashOf(tag: string): string {
  const text = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

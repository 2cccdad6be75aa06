import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../streams/core/index.js';
import { projectDir } from '../servers/binaries.js';
import { places } from './discovery/doors.js';
import { documentOf, sendDocument } from './documents-routes.js';
import { wantsHtml } from './front-routes.js';

/** Where the build puts the documentation as a site. */
const builtGuide = join(projectDir, 'dist', 'guide');
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const headers = { 'content-security-policy': pagePolicy, 'referrer-policy': 'no-referrer' };
const nowhere = '404.html';

/** `/guide`: the documentation as a site. Only files that the build made are sent, whatever a path says. */
export async function guideRoutes(app: FastifyInstance, { directory = builtGuide } = {}): Promise<void> {
  const files = new Map(filesIn(directory).map((file) => [addressOf(file), file]));
  const send = async (path: string, request: FastifyRequest, reply: FastifyReply) => {
    const file = files.get(path);
    const content = file && (await contentOf(join(directory, file)));
    if (!content) return sendNowhere(request, reply);
    // programs to copy from are texts
    const type = types[extname(file)] ?? 'text/plain; charset=utf-8';
    return sendDocument(request, reply.headers(headers), documentOf({ type, text: content }));
  };
  const sendNowhere = async (request: FastifyRequest, reply: FastifyReply) => {
    const page = wantsHtml(request.headers.accept) ? await contentOf(join(directory, nowhere)) : undefined;
    if (!page)
      throw new Refusal('not_found', 'There is no such page', { hint: 'GET /guide lists all pages' });
    return reply.code(404).headers(headers).header('content-type', types['.html']).send(page);
  };
  app.get(places.guide, (request, reply) => send('', request, reply));
  app.get<{ Params: { '*': string } }>(`${places.guide}/*`, (request, reply) =>
    send(request.params['*'], request, reply),
  );
}

/** The files below a directory; none where nothing was built. */
function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { encoding: 'utf8', recursive: true }).filter((name) => name !== nowhere);
  } catch {
    return [];
  }
}

/** Where a file of the site is asked for: a page without its ending. */
function addressOf(file: string): string {
  return file.replace(/^index\.html$|\.html$/, '');
}

/** `undefined` for a folder, and where the site is being made again without this file. */
async function contentOf(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(() => undefined);
}

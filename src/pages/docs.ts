import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Document, documentOf, sendDocument } from './documents-routes.js';

const assetsDir = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};
const script = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null })`;
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Relay Network API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${script}</script>
</html>
`;
const pagePolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  // the page styles its parts as it goes
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const plain = { 'x-content-type-options': 'nosniff' };

/**
 * `/openapi.json`, the description of the API for programs, and `/docs`, to read and try it. The description is made once,
 * when somebody asks for it.
 */
export async function docsRoutes(
  app: FastifyInstance,
  { document }: { document: () => object },
): Promise<void> {
  let description: Document | undefined;
  app.get('/openapi.json', async (request, reply) => {
    description ??= documentOf({ type: 'application/json', text: JSON.stringify(document()) });
    return sendDocument(request, reply, description);
  });
  const toRead = documentOf({ type: 'text/html; charset=utf-8', text: page });
  app.get('/docs', async (request, reply) =>
    sendDocument(request, reply.headers({ 'content-security-policy': pagePolicy, ...plain }), toRead),
  );
  for (const [name, type] of Object.entries(assets)) {
    let asset: Document | undefined;
    app.get(`/docs/${name}`, async (request, reply) => {
      asset ??= documentOf({ type, text: await readFile(join(assetsDir, name)) });
      return sendDocument(request, reply.headers(plain), asset);
    });
  }
}

import { fastify } from 'fastify';
import { Pool } from 'undici';

/** A bare route that passes a read on to the marketplace at the address given, and its bytes back. */
const [upstream] = process.argv.slice(2);
const pool = new Pool(upstream!, { connections: 64, pipelining: 1 });
const app = fastify();
app.get('/tasks', async (_request, reply) => {
  const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/api/v1/tasks' });
  const bytes = Buffer.from(await body.arrayBuffer());
  return reply
    .code(statusCode)
    .header('content-type', headers['content-type'] as string)
    .send(bytes);
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send!({ url });

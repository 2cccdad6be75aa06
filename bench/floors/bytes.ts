import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';

/** A bare route for each body that it is given: the same bytes to everybody. */
process.on('message', async (bodies: string[]) => {
  const app = fastify();
  for (const [n, body] of bodies.entries())
    app.get(`/${n}`, (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
  await app.listen({ host: '127.0.0.1', port: 0 });
  process.send!({ url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` });
});
process.send!('ready');

// Floor of durable ingest: one bare route that checks an HMAC and publishes, and nothing else.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { fastify } from 'fastify';
import { connectToNats } from '../../streams/core/nats.js';
import { newId, Publisher } from '../../streams/core/publisher.js';

const [url = '', secret = '', port = '0'] = process.argv.slice(2);
const connection = await connectToNats(url, 'floor');
const manager = await connection.jetstreamManager();
await manager.streams.add({ name: 'FLOOR', subjects: ['floor.>'] });
const publisher = new Publisher(connection);

const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
app.post('/hooks/em/events', async (request, reply) => {
  const raw = request.body as Buffer;
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const given = Buffer.from(String(request.headers['x-em-signature']));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return reply.code(401).send({});
  const event = JSON.parse(raw.toString()) as { event_id: string };
  const answer = await publisher.publish(`floor.event.${event.event_id}`, raw, {
    id: newId(),
    expectedLastSubjectSequence: 0,
    timeoutMs: 5_000,
  });
  return reply.code(answer.is === 'stored' ? 202 : 200).send({ status: answer.is });
});
process.send?.({ url: await app.listen({ port: Number(port) }) });

// Floor of durable ingest: one bare route that checks an HMAC and publishes, alone or in groups, and nothing else.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { fastify } from 'fastify';
import { AppendQueue } from '../../streams/core/append-queue.js';
import { readLastSequences } from '../../streams/core/direct.js';
import { EndOfTurn } from '../../streams/core/end-of-turn.js';
import { connectToNats } from '../../streams/core/nats.js';
import { newId, Publisher } from '../../streams/core/publisher.js';
import type { StreamDefinition } from '../../streams/core/stream.js';

const [url = '', secret = '', how = 'single', port = '0'] = process.argv.slice(2);
const connection = await connectToNats(url, 'floor');
const manager = await connection.jetstreamManager();
const name = `FLOOR_${how}`;
const subjects = [`floor.${how}.>`];
const stream = { name, subjects, allow_direct: true, allow_atomic: how === 'groups' };
await manager.streams.add(stream);
const endOfTurn = new EndOfTurn();
const publisher = new Publisher(connection, endOfTurn);
const lastSequences = (of: string[]) =>
  readLastSequences(connection, { name } as StreamDefinition, of, 1_000);
const way = how === 'groups' ? new AppendQueue(publisher, endOfTurn, lastSequences) : publisher;

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
  const answer = await way.publish(`floor.${how}.${event.event_id}`, raw, {
    id: newId(),
    expectedLastSubjectSequence: 0,
    timeoutMs: 5_000,
  });
  return reply.code(answer.is === 'stored' ? 202 : 200).send({ status: answer.is });
});
process.send?.({ url: await app.listen({ port: Number(port) }) });

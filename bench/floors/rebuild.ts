// Floor of a rebuild: an ordered consumer of each stream that parses every fact as JSON and keeps nothing.
import { connectToNats } from '../../streams/core/nats.js';

const decoder = new TextDecoder();

/** Reads the streams side by side from the beginning and resolves with the milliseconds that it took. */
export async function parseAll(natsUrl: string, streams: string[]): Promise<number> {
  const connection = await connectToNats(natsUrl, 'floor');
  const jetstream = connection.jetstream();
  const startedAt = performance.now();
  const parse = async (stream: string) => {
    const consumer = await jetstream.consumers.get(stream);
    const messages = await consumer.consume({ max_messages: 2_000 });
    for await (const message of messages) {
      if (!JSON.parse(decoder.decode(message.data))) throw new Error('not a fact');
      if (message.info.pending === 0) return;
    }
  };
  await Promise.all(streams.map(parse));
  const ms = performance.now() - startedAt;
  await connection.close();
  return ms;
}

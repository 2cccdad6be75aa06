import { connect } from 'nats';
import { eventually } from '../support/eventually.js';

/**
 * The position of each event of the load on the market stream; read with the client alone, without the
 * product's code.
 */
export async function storedEvents(urls: string): Promise<Map<string, number[]>> {
  // a newly started server of a cluster answers nothing of JetStream for seconds
  return await eventually('the log servers to tell what they have', () => readEvents(urls));
}

async function readEvents(urls: string): Promise<Map<string, number[]>> {
  const connection = await connect({ servers: urls.split(',') });
  const places = new Map<string, number[]>();
  try {
    const { state } = await (await connection.jetstreamManager()).streams.info('MARKET');
    if (state.messages === 0) return places;
    const consumer = await connection.jetstream().consumers.get('MARKET');
    for await (const message of await consumer.consume({ max_messages: 1_000 })) {
      const id = /"event_id":"evt-(e\d{7})"/.exec(message.string())?.[1];
      if (id !== undefined) places.set(id, [...(places.get(id) ?? []), message.seq]);
      if (message.seq >= state.last_seq) break;
    }
  } finally {
    await connection.close();
  }
  return places;
}

/** A producer of events. Usage: npx tsx examples/producer.ts TITLE BOUNTY */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const { RELAY_URL = 'http://127.0.0.1:8100', EM_WEBHOOK_SECRET = '' } = process.env;
const [title = 'A task', bounty = '5'] = process.argv.slice(2);

const event = {
  event_id: `example-${randomUUID()}`, // stays the same when the event is posted again
  event_type: 'task.published',
  source: 'example-producer',
  payload: {
    id: randomUUID().slice(0, 8),
    title,
    bounty_usdc: Number(bounty),
    network: 'base',
    category: 'translation',
  },
};

/** Posts the event once. The signature is made over the bytes that are sent. */
async function post(body: string): Promise<Response> {
  return await fetch(`${RELAY_URL}/hooks/em/events`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-EM-Timestamp': new Date().toISOString(),
      'X-EM-Signature': `sha256=${createHmac('sha256', EM_WEBHOOK_SECRET).update(body).digest('hex')}`,
    },
    body,
    signal: AbortSignal.timeout(10_000),
  });
}

/** Posts the event until there is an answer that will not change. The service accepts an `event_id` once. */
async function deliver(): Promise<void> {
  const body = JSON.stringify(event);
  for (let pauseMs = 500; ; pauseMs = Math.min(2 * pauseMs, 60_000)) {
    try {
      const response = await post(body);
      const answer = (await response.json()) as Record<string, unknown>;
      if (response.ok) return console.log(answer.status, answer.target_channels, answer.formatted_message);
      if (response.status < 500 && response.status !== 429)
        throw new Refused(JSON.stringify(answer, null, 2));
      console.error(`${response.status}: again in ${pauseMs} ms`);
    } catch (error) {
      if (error instanceof Refused) throw error;
      console.error(`no answer (${(error as Error).message}): again in ${pauseMs} ms`);
    }
    await wait(pauseMs);
  }
}

/** The service said no: the same event would get the same answer. */
class Refused extends Error {}

await deliver();

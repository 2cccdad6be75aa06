import { Agent, request } from 'node:http';
import autocannon from 'autocannon';

/** Sends one signed event and resolves with the milliseconds until its answer; throws unless it is a 202. */
export type Post = (event: { body: string; headers: Record<string, string> }) => Promise<number>;

/** A poster on kept-alive connections that costs little beside what it measures. */
export function poster(url: string): { post: Post; close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const target = `${url}/hooks/em/events`;
  const post: Post = ({ body, headers }) =>
    new Promise((resolve, reject) => {
      const sentAt = performance.now();
      const options = { method: 'POST', agent, timeout: 10_000, headers };
      const outgoing = request(target, options, (answer) => {
        answer.resume();
        answer.once('end', () => {
          if (answer.statusCode === 202) resolve(performance.now() - sentAt);
          else reject(new Error(`${target} answered ${answer.statusCode}`));
        });
      });
      outgoing.once('timeout', () => outgoing.destroy(new Error(`${target} does not answer`)));
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  return { post, close: () => agent.destroy() };
}

/**
 * Calls `send` at a steady rate whatever the answers take, `count` times or until `until` aborts, and resolves
 * with what it resolved with, when all have.
 */
export async function atRate(
  perSecond: number,
  count: number,
  send: (n: number) => Promise<number>,
  until?: AbortSignal,
): Promise<number[]> {
  const sent: Promise<number>[] = [];
  const startedAt = performance.now();
  while (sent.length < count && !until?.aborted) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond));
    while (sent.length < due) {
      const sending = send(sent.length);
      sending.catch(() => {}); // noticed when all are waited for
      sent.push(sending);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return await Promise.all(sent);
}

/** Puts load on an address and says how many answers a second it gave. Throws when one was not a 2xx. */
export async function answersPerSecond(load: autocannon.Options): Promise<number> {
  const result = await autocannon(load);
  const answered = result['2xx'];
  if (answered === 0 || result.non2xx > 0)
    throw new Error(`${load.url}: ${answered} answered, ${result.non2xx} refused`);
  return answered / result.duration;
}

// The least that it takes to let many speak at once: a bare socket for each, and a line whose echo is awaited.
import { bareClient } from '../support/irc-client.js';
import { inParallel } from '../support/log.js';

const atATime = 16;

/** Connects, lets all speak at once, and resolves with the milliseconds from each line to its echo. */
export async function speakAtOnce(options: {
  port: number;
  count: number;
  channels: readonly string[];
  lineOf: (n: number) => string;
}): Promise<number[]> {
  const { port, count, channels, lineOf } = options;
  const clients: Awaited<ReturnType<typeof bareClient>>[] = [];
  const channelOf = (n: number) => channels[n % channels.length]!;
  await inParallel(count, atATime, async (n) => {
    clients[n] = await bareClient({ port, nick: `bare${n}`, channels: [channelOf(n)] });
  });
  const took = await Promise.all(
    clients.map(
      (client, n) =>
        new Promise<number>((resolve) => {
          const sentAt = performance.now();
          client.onLines((lines) => {
            if (lines.some((line) => line.includes('label=spoken'))) resolve(performance.now() - sentAt);
          });
          client.send(`@label=spoken PRIVMSG ${channelOf(n)} :${lineOf(n)}\r\n`);
        }),
    ),
  );
  for (const client of clients) client.quit();
  return took;
}

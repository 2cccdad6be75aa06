// The lowest possible latency: one durable append, then one labelled line, and no other load on the machine.
import { EndOfTurn } from '../../streams/core/end-of-turn.js';
import { connectToNats } from '../../streams/core/nats.js';
import { newId, Publisher } from '../../streams/core/publisher.js';
import { bareClient } from '../support/irc-client.js';

/** Appends and then sends, `count` times one after the other; resolves with the milliseconds of each. */
export async function appendAndSend(options: {
  natsUrl: string;
  port: number;
  password: string;
  count: number;
  bytes: number;
}): Promise<number[]> {
  const connection = await connectToNats(options.natsUrl, 'floor');
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name: 'FLOOR', subjects: ['floor.>'] });
  const publisher = new Publisher(connection, new EndOfTurn());
  const channel = '#floor';
  const irc = await bareClient({ ...options, nick: 'floor', channels: [channel] });
  const event = Buffer.alloc(options.bytes, 'x');
  const text = 'x'.repeat(80);
  let echoed = (_label: string) => {};
  irc.onLines((lines) => {
    for (const line of lines) {
      const label = line.startsWith('@') && /[@;]label=([^; ]+)/.exec(line)?.[1];
      if (label) echoed(label);
    }
  });

  const taken: number[] = [];
  for (let n = 0; n < options.count; n++) {
    const startedAt = performance.now();
    const answer = await publisher.publish(`floor.${n}`, event, {
      id: newId(),
      expectedLastSubjectSequence: undefined,
      timeoutMs: 5_000,
    });
    if (answer.is !== 'stored') throw new Error(`the log answered ${answer.is}`);
    await new Promise<void>((resolve) => {
      echoed = (label) => label === String(n) && resolve();
      irc.send(`@label=${n} PRIVMSG ${channel} :${text}\r\n`);
    });
    taken.push(performance.now() - startedAt);
  }
  irc.quit();
  await manager.streams.delete('FLOOR');
  publisher.close();
  await connection.close();
  return taken;
}

// Floor of delivery: labelled lines from a bare socket, one in flight per channel, 8 KB in flight together.
import { bareClient } from '../support/irc-client.js';

const bytesInFlight = 8_192;

/** Sends `lines` lines of `bytes` bytes over the channels and resolves with the milliseconds until the last echo. */
export async function bareDelivery(options: {
  port: number;
  password: string;
  channels: string[];
  lines: number;
  bytes: number;
}): Promise<number> {
  const { channels, lines, bytes } = options;
  const client = await bareClient({ ...options, nick: 'floor' });
  const ready = channels.map((_, index) => index);
  const left = channels.map((_, index) =>
    Math.floor((lines + channels.length - 1 - index) / channels.length),
  );
  const text = 'x'.repeat(bytes);
  let echoed = 0;
  let inFlight = 0;
  let next = 0;

  const pump = () => {
    const out: string[] = [];
    while (ready.length > 0 && inFlight + bytes < bytesInFlight) {
      const channel = ready.shift()!;
      if (left[channel]!-- <= 0) continue;
      inFlight += bytes;
      out.push(`@label=${channel}-${next++} PRIVMSG ${channels[channel]} :${text}\r\n`);
    }
    if (out.length > 0) client.send(out.join(''));
  };

  const started = performance.now();
  await new Promise<void>((resolve) => {
    client.onLines((received) => {
      for (const line of received) {
        const label = line.startsWith('@') && /[@;]label=(\d+)-/.exec(line);
        if (!label) continue;
        inFlight -= bytes;
        ready.push(Number(label[1]));
        if (++echoed === lines) resolve();
      }
      pump();
    });
    pump();
  });
  const ms = performance.now() - started;
  client.quit();
  return ms;
}

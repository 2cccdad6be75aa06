// Peer of delivery: irc-framework's own `say`, each line awaited by its echo before the channel's next one.
import { Client } from 'irc-framework';

/** What of the library is used here and not in the product. */
interface Sayer {
  connect(options: object): void;
  join(channel: string): void;
  say(target: string, text: string): void;
  quit(): void;
  on(event: string, handle: (event: { nick: string; target: string; channel: string }) => void): void;
}

const nick = 'peer';
const registerBoundMs = 15_000;

/** Says `lines` lines of `bytes` bytes over the channels and resolves with the milliseconds until the last echo. */
export async function frameworkDelivery(options: {
  port: number;
  password: string;
  channels: string[];
  lines: number;
  bytes: number;
}): Promise<number> {
  const { port, password, channels, lines, bytes } = options;
  const client = new (Client as unknown as new () => Sayer)();
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('irc-framework did not join in time')), registerBoundMs);
    let joined = 0;
    client.on('registered', () => {
      for (const channel of channels) client.join(channel);
    });
    client.on('join', (event) => {
      if (event.nick !== nick || ++joined < channels.length) return;
      clearTimeout(late);
      resolve();
    });
    client.connect({
      host: '127.0.0.1',
      port,
      nick,
      password,
      account: {},
      enable_echomessage: true,
      auto_reconnect: false,
    });
  });

  const text = 'x'.repeat(bytes);
  let left = lines;
  let echoed = 0;
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const say = (channel: string) => {
      if (left-- > 0) client.say(channel, text);
    };
    client.on('privmsg', (event) => {
      if (event.nick !== nick) return;
      if (++echoed === lines) resolve();
      say(event.target);
    });
    for (const channel of channels) say(channel);
  });
  const ms = performance.now() - started;
  client.quit();
  return ms;
}

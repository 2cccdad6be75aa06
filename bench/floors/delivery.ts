// Floor of delivery: labelled lines from a bare socket, one in flight per channel, 8 KB in flight together.
import { connect } from 'node:net';

const bytesInFlight = 8_192;

/** Sends `lines` lines of `bytes` bytes over the channels and resolves with the milliseconds until the last echo. */
export function bareDelivery(options: {
  port: number;
  password: string;
  channels: string[];
  lines: number;
  bytes: number;
}): Promise<number> {
  const { channels, lines, bytes } = options;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: options.port, noDelay: true });
    let rest = '';
    let started = 0;
    let echoed = 0;
    let inFlight = 0;
    let next = 0;
    const ready = channels.map((_, index) => index);
    const left = channels.map((_, index) =>
      Math.floor((lines + channels.length - 1 - index) / channels.length),
    );
    const text = 'x'.repeat(bytes);

    const pump = () => {
      const out: string[] = [];
      while (ready.length > 0 && inFlight + bytes < bytesInFlight) {
        const channel = ready.shift()!;
        if (left[channel]!-- <= 0) continue;
        const line = `@label=${channel}-${next++} PRIVMSG ${channels[channel]} :${text}\r\n`;
        inFlight += bytes;
        out.push(line);
      }
      if (out.length > 0) socket.write(out.join(''));
    };

    socket.on('error', reject);
    socket.write(
      `PASS ${options.password}\r\nNICK floor\r\nUSER floor 0 * :floor\r\nCAP REQ :labeled-response echo-message batch message-tags\r\nCAP END\r\n`,
    );
    socket.on('data', (chunk) => {
      const parts = (rest + chunk.toString('latin1')).split('\r\n');
      rest = parts.pop()!;
      for (const line of parts) {
        if (line.startsWith('PING')) socket.write(`PONG${line.slice(4)}\r\n`);
        else if (line.includes(' 001 floor ')) {
          for (let n = 0; n < channels.length; n += 15)
            socket.write(`JOIN ${channels.slice(n, n + 15).join(',')}\r\n`);
          socket.write('PING :joined\r\n');
        } else if (/ PONG \S+ :?joined$/.test(line)) {
          started = performance.now();
          pump();
        } else if (started && line.startsWith('@')) {
          const label = /[@;]label=(\d+)-/.exec(line);
          if (!label) continue;
          inFlight -= bytes;
          ready.push(Number(label[1]));
          if (++echoed === lines) {
            const ms = performance.now() - started;
            socket.end('QUIT\r\n');
            resolve(ms);
            return;
          }
        }
      }
      if (started) pump();
    });
  });
}

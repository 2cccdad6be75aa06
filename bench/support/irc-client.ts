import { connect } from 'node:net';

/** A client on a bare socket: no more than what a measurement needs. */
export interface BareClient {
  /** Sends lines; each ends with CR LF. */
  send(lines: string): void;
  /** What happens from now on with the lines of each packet. */
  onLines(handle: (lines: string[]) => void): void;
  quit(): void;
}

const registerBoundMs = 15_000;

/** Registers with labels and echoes, joins channels, and resolves when it is in all of them. */
export function bareClient(options: {
  port: number;
  nick: string;
  password?: string;
  channels: readonly string[];
}): Promise<BareClient> {
  const { port, nick, password, channels } = options;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`${nick} was not in its channels after ${registerBoundMs} ms`));
    }, registerBoundMs);
    const client: BareClient = {
      send: (lines) => void socket.write(lines),
      onLines: (next) => {
        handle = next;
      },
      quit: () => void socket.end('QUIT\r\n'),
    };
    let handle = (lines: string[]) => {
      if (lines.some((line) => line.includes(` 001 ${nick} `))) {
        for (let n = 0; n < channels.length; n += 15)
          socket.write(`JOIN ${channels.slice(n, n + 15).join(',')}\r\n`);
        socket.write('PING :joined\r\n');
      } else if (lines.some((line) => / PONG \S+ :?joined$/.test(line))) {
        clearTimeout(late);
        resolve(client);
      }
    };
    let rest = '';
    socket.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('PING')) socket.write(`PONG${line.slice(4)}\r\n`);
      handle(lines);
    });
    if (password) socket.write(`PASS ${password}\r\n`);
    socket.write(
      `NICK ${nick}\r\nUSER ${nick} 0 * :${nick}\r\nCAP REQ :labeled-response echo-message batch message-tags\r\nCAP END\r\n`,
    );
  });
}

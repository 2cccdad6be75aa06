import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Teardown } from '../support/server-process.js';

/** A server that does what a test says, for behaviour that no real server shows on demand. */
export interface FakeServer {
  readonly url: string;
  /** How many connections it has accepted. */
  readonly connections: number;
  /** Every line it has received. */
  readonly received: string[];
  /** Sends raw lines on the newest connection. */
  send(...lines: string[]): void;
}

/**
 * Answers one line of a client with a list of lines to send. `undefined` gives what a polite server answers:
 * registration with all capabilities, echo of labelled lines, PONG, ACK for the rest.
 */
export type Script = (line: string, socket: Socket) => string[] | undefined;

/** Starts a scripted server for as long as the test lasts. */
export async function startFakeServer(t: Teardown, script: Script = () => undefined): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  let connections = 0;
  let newest: Socket | undefined;

  const listener = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    newest = socket;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const client = { nick: '*' };
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop()!;
      for (const line of lines) {
        received.push(line);
        for (const answer of script(line, socket) ?? polite(line, client)) socket.write(`${answer}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  });
  return {
    url: `irc://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    received,
    send: (...lines) => void newest?.write(lines.map((line) => `${line}\r\n`).join('')),
  };
}

const capabilities = 'message-tags batch labeled-response echo-message server-time';

const welcome = (nick: string) => [
  `:fake 001 ${nick} :Welcome`,
  `:fake 005 ${nick} CHANMODES=b,k,Hl,imnstP PREFIX=(ov)@+ NICKLEN=30 :are supported`,
  `:fake 422 ${nick} :No MOTD`,
];

function polite(line: string, client: { nick: string }): string[] {
  const [, label, command = '', rest = ''] = /^(?:@label=(\w+)\S* )?(\w+) ?(.*)$/.exec(line) ?? [];
  const tag = label === undefined ? '' : `@label=${label} `;
  switch (command) {
    case 'CAP':
      if (rest.startsWith('LS')) return [`:fake CAP * LS :${capabilities}`];
      if (rest.startsWith('REQ')) return [`:fake CAP * ACK ${rest.slice(4)}`];
      return rest === 'END' ? welcome(client.nick) : [];
    case 'NICK':
      client.nick = rest;
      return label === undefined ? [] : [`${tag}:${rest}!u@h NICK :${rest}`];
    case 'PING':
      return [`${tag}:fake PONG fake ${rest}`];
    case 'QUIT':
      return ['ERROR :Bye'];
    case 'JOIN':
      return [`${tag}:${client.nick}!u@h JOIN ${rest}`];
    case 'PRIVMSG':
      return [`${tag}:${client.nick}!u@h PRIVMSG ${rest}`];
    default:
      return label === undefined ? [] : [`${tag}:fake ACK`];
  }
}

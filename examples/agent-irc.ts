/** An agent on IRC: it answers when somebody says its nick. Usage: npx tsx examples/agent-irc.ts NICK */
import { connect, type Socket } from 'node:net';

const { IRC_HOST = '127.0.0.1', IRC_PORT = '6667' } = process.env;
const [nick = 'echo-7'] = process.argv.slice(2);
const channel = '#lobby';
/** So often it answers one nick before it keeps quiet: two agents could go on for ever. */
const patience = 3;

const answered = new Map<string, number>();
let pauseMs = 1_000;

/** Connects, and again after each lost connection, with a backoff. */
function live(): void {
  const socket = connect(Number(IRC_PORT), IRC_HOST);
  let rest = '';
  socket.setEncoding('utf8').setTimeout(300_000, () => socket.destroy());
  socket.on('connect', () => send(socket, `NICK ${nick}`, `USER ${nick} 0 * :an example`));
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(socket, line);
  });
  socket.on('error', (error) => console.error(error.message));
  socket.on('close', () => {
    console.error(`the connection is lost: again in ${pauseMs} ms`);
    setTimeout(live, pauseMs);
    pauseMs = Math.min(2 * pauseMs, 60_000);
  });
}

function hear(socket: Socket, line: string): void {
  const [, source = '', command = '', rest = ''] = /^(?::(\S+) )?(\S+) ?(.*)$/.exec(line) ?? [];
  if (command === 'PING') send(socket, `PONG ${rest}`);
  // +B marks it as a program, as the rules of the network ask
  if (command === '001') send(socket, `MODE ${nick} +B`, `JOIN ${channel}`);
  if (command === '433') {
    console.error('the nick is taken');
    process.exit(1);
  }
  if (command === '366') {
    pauseMs = 1_000;
    console.log(`in ${channel} as ${nick}`);
  }
  if (command !== 'PRIVMSG') return;
  const [, target, text = ''] = /^(\S+) :(.*)$/.exec(rest) ?? [];
  const [from = ''] = source.split('!');
  if (target !== channel || !text.startsWith(`${nick}: `)) return;
  const times = (answered.get(from) ?? 0) + 1;
  answered.set(from, times);
  // one short line; what others say is repeated as text, and nothing is done because of it
  if (times <= patience)
    send(socket, `PRIVMSG ${channel} :${from}: you said "${text.slice(nick.length + 2, 200)}"`);
}

function send(socket: Socket, ...lines: string[]): void {
  socket.write(lines.map((line) => `${line}\r\n`).join(''));
}

live();

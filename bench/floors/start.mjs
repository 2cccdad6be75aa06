// Floor of the start: nats-server, InspIRCd and the database of a data folder, and an empty HTTP server, all at
// once and nothing else. Not TypeScript, so that no compiler is in the figure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { fastify } from 'fastify';

const { dir, natsServer, natsPort, inspircd, ircPort } = JSON.parse(process.argv[2]);

function answers(port, hello, expected) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.write(hello));
    socket.on('data', (bytes) => {
      if (!expected.test(bytes.toString('latin1'))) return;
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function server(command, args, port, hello, expected) {
  const child = spawn(command, args, { stdio: 'ignore' });
  while (!(await answers(port, hello, expected))) await sleep(5);
  return child;
}

const natsArgs = ['-c', 'nats.conf', '-a', '127.0.0.1', '-p', String(natsPort), '-sd', `${dir}/nats/store`];
const ircArgs = ['--runasroot', '--nofork', '--nopid', '--config', `${dir}/irc/inspircd.conf`];
const app = fastify();
const [nats, irc, database] = await Promise.all([
  server(natsServer, natsArgs, natsPort, '', /^INFO \{/),
  server(inspircd, ircArgs, ircPort, 'CAP LS 302\r\n', / CAP \* LS /),
  PGlite.create(`${dir}/pg`),
  app.listen({ host: '127.0.0.1', port: 0 }),
]);
await database.query('select 1');
process.send('ready');

process.once('message', async () => {
  const ended = [nats, irc].map((child) => once(child, 'exit'));
  nats.kill();
  irc.kill();
  await Promise.all([...ended, database.close(), app.close()]);
  process.disconnect();
});

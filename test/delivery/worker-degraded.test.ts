import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { answers, freePort } from '../../src/embedded/net.js';
import { eventually } from '../support/eventually.js';
import { startServerProcess } from '../support/server-process.js';
import { drafts, Stage } from './stage.js';

const ngircd = ['ngircd', '/usr/sbin/ngircd'].find((path) => spawnSync(path, ['--version']).status === 0);
const skip = ngircd === undefined && 'ngircd, a server without capabilities, is not installed';

const config = (port: number) => `
[Global]
Name = irc.degraded
Info = a server without capabilities
Listen = 127.0.0.1
Ports = ${port}
ServerUID = ${process.getuid?.() ?? 0}
ServerGID = ${process.getgid?.() ?? 0}
MotdPhrase = plain
[Limits]
MaxConnectionsIP = 0
MaxNickLength = 30
MaxJoins = 0
MaxPenaltyTime = 1
[Options]
DNS = no
Ident = no
PAM = no
`;

t.test(
  'QUEUE-01 QUEUE-04 QUEUE-11 on a server that confirms nothing by itself a fence does',
  { skip, timeout: 60_000 },
  async (t) => {
    const server = await startServerProcess(t, {
      name: 'ngircd',
      command: ngircd!,
      choosePort: freePort,
      args: (dir, port) => {
        const file = join(dir, 'ngircd.conf');
        writeFileSync(file, config(port));
        return ['--nodaemon', '--config', file];
      },
      answers: (port) => answers({ port }, 'PING :there\r\n', /^/),
    });
    const place = Object.assign(server, { url: `irc://127.0.0.1:${server.port}` });
    const stage = await Stage.open(t, 6, place);
    const refusing = stage.channels[5]!;
    await stage.witness.ask(`MODE ${refusing} +m`);
    const worker = await stage.start({ retryMs: 500 });
    await stage.publish({ id: 'refused', channels: [stage.channels[0]!, refusing] });
    await stage.publish(...drafts('e', 30, stage.channels.slice(0, 5)));
    await stage.settled(40_000);
    t.equal(worker.irc.status().confirmation, 'fence');
    t.match(stage.outcomes.of('event.dead_lettered'), [
      { event_id: 'refused', delivered: [stage.channels[0]], undelivered: [refusing], last_error: /^404/ },
    ]);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
    await stage.judge(t, { unless: (_id, channel) => channel === refusing });
  },
);

import pino from 'pino';
import { lockDataDir } from '../../src/servers/data-dir-lock.js';
import { startInspircd } from '../../src/servers/inspircd.js';
import { startNatsServer } from '../../src/servers/nats-server.js';
import { startNats } from '../support/nats.js';
import { smallDisk } from '../support/small-disk.js';
import { ownNetwork } from './own-network.js';

// A service of its own for the tests to kill: does what its first argument says and says so in one line.
const [what, dataDir] = process.argv.slice(2) as [string, string];
const log = pino({ level: 'silent' });
const secrets = { operName: 'chanbot', operPassword: 'oper-password', serverPassword: 'server-password' };

if (what === 'lock') await lockDataDir(dataDir);
if (what === 'disk') smallDisk({ teardown() {} }, 1);
const server =
  what === 'nats'
    ? await startNatsServer({ dataDir, log })
    : what === 'test-nats'
      ? await startNats({ teardown() {} })
      : what === 'inspircd'
        ? await startInspircd({ dataDir, port: 0, log, secrets })
        : what === 'nick service'
          ? await (await ownNetwork(dataDir)).nickService?.started
          : undefined;
console.log(JSON.stringify({ pid: server?.pid, port: server?.port }));
setInterval(() => {}, 60_000);

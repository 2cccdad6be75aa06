import pino from 'pino';
import t from 'tap';
import { Log } from '../../streams/core/index.js';
import { market } from '../../streams/events/index.js';
import { startNatsCluster } from '../support/nats-cluster.js';

t.test('LOG-13 a start says what it waits for, and in the end what to do', async (t) => {
  const { url, nodes } = await startNatsCluster(t);
  for (const node of nodes.slice(1)) await node.kill();
  const warnings: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line).msg) });
  const options = { urls: url, name: 'test', streams: [market], replicas: 3, maxBytes: 50e6, logger };
  await t.rejects(Log.open({ ...options, patienceMs: 500 }), {
    message: /do not form a cluster that keeps 3 copies .*NATS_REPLICAS/,
  });
  t.match(
    warnings.filter((said) => /waits/.test(said)),
    ['the log servers are not ready yet: the start waits for them'],
  );
});

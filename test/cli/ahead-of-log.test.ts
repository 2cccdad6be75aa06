import { pino } from 'pino';
import t from 'tap';
import { isAheadOfLog } from '../../projections/core/status.js';
import { createApp } from '../../src/app/app.js';
import { readStoreChecks } from '../../src/cli/doctor/read-store.js';
import type { Status } from '../../src/cli/projections/status.js';
import { readConfig } from '../../src/config/config.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { temporaryDirectory } from '../support/sql.js';
import { diagnose } from './diagnosis.js';
import { relay } from './terminal.js';

t.test('READ-16 on a shorter log than was folded operators are told so, and no skip is taken', async (t) => {
  const settings = {
    DATA_DIR: await temporaryDirectory(t),
    PORT: '0',
    ROLES: 'api,services,projections',
    EM_WEBHOOK_SECRET: 's'.repeat(40),
  };
  /** The service on its own log, with the existing read models. */
  const start = async () => {
    const { url } = await startNats(t);
    const env = { ...settings, NATS_URL: url };
    const app = await createApp(readConfig(env), pino({ level: 'silent' }));
    t.teardown(() => app.stop());
    return {
      app,
      look: async () => await diagnose(readStoreChecks, env, { url: app.address }),
      recorded: () => relay(['events', 'operations', '--json'], { env }),
      relay: (...argv: string[]) => relay([...argv, '--url', app.address], { env }),
    };
  };
  const queueOf = async (service: Awaited<ReturnType<typeof start>>) => {
    const { out } = await service.relay('projections', '--json');
    const { projections } = JSON.parse(out) as { projections: Status[] };
    return projections.find(({ name }) => name === 'delivery_queue')!;
  };

  const before = await start();
  t.match(await before.relay('emit', 'task.expired'), { code: 0 });
  const folded = await eventually('it to be folded', async () => {
    const queue = await queueOf(before);
    return queue.streams.some(({ position }) => position === 1) && queue;
  });
  t.notOk(isAheadOfLog(folded));
  await before.app.stop();

  const after = await start();
  const halted = await eventually('it to halt', async () => {
    const queue = await queueOf(after);
    return queue.state === 'halted' && queue;
  });
  t.ok(isAheadOfLog(halted));
  const says = /delivery_queue has halted at MARKET 1: The stream ends at 0, .* folded up to 1/;
  const hint =
    'Bring back:       the log as it was: a copy of its store, or relay import of an export\n' +
    'Or go on with it: relay projections rebuild delivery_queue';
  const { out } = await after.relay('projections');
  t.match(out, says);
  t.match(out, hint);
  t.match((await after.look())['projections.delivery_queue'], {
    status: 'fail',
    what: says,
    mend: /^bring back the log as it was .* relay projections rebuild delivery_queue$/,
  });

  const skip = ['projections', 'skip', 'delivery_queue', '--stream', 'MARKET', '--seq', '1', '--reason', 'x'];
  const refused = await after.relay(...skip);
  t.match(refused, { code: 1, out: '', err: says });
  t.match(refused.err, hint);
  const machine = await after.relay(...skip, '--json');
  t.match(JSON.parse(machine.err), { code: 'ahead_of_log', error: says, hint });
  const asked = await fetch(`${after.app.address}/ops/projections/delivery_queue/skip`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stream: 'MARKET', seq: 1, reason: 'x' }),
  });
  t.equal(asked.status, 409);
  t.match(await asked.json(), { code: 'ahead_of_log' });
  t.match(await after.recorded(), { code: 0, out: '' }, 'it was not recorded');

  t.match(await after.relay('projections', 'rebuild', 'delivery_queue'), { code: 0 });
});

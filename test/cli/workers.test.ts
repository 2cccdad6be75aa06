import { connect } from 'nats';
import t from 'tap';
import { deliveryChecks } from '../../src/cli/doctor/delivery.js';
import { marketSubject } from '../../streams/events/index.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { diagnose } from './diagnosis.js';
import { relay } from './terminal.js';

const key = 'k'.repeat(40);
const worker = 'automate-channels';

t.test('WORK-05 operators see a worker that has halted, and have it go on', async (t) => {
  const nats = await startNats(t);
  const env = {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    ROLES: 'api,projections,services,workers',
    API_KEYS: `ann:${key}`,
  };
  const { url } = await startApp(t, env);
  const client = await connect({ servers: nats.url });
  t.teardown(() => client.close());
  const broken = JSON.stringify({ type: 'event.received', v: 1, data: {} });
  const { seq } = await client.jetstream().publish(marketSubject('broken'), broken);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const found = async () => {
    const answer = await fetch(`${url}/ops/workers`, { headers });
    const { workers } = (await answer.json()) as { workers: { worker: string; halted: object[] }[] };
    return workers.find((one) => one.worker === worker);
  };
  t.equal((await fetch(`${url}/ops/workers`)).status, 401);
  const halted = await eventually('the halt', async () => {
    const one = await found();
    return one && one.halted.length > 0 && one;
  });
  t.match(halted, { stream: 'MARKET', halted: [{ seq, reason: /./ }] });
  const cli = (...argv: string[]) => relay([...argv, '--url', url, '--key', key], { env });
  const listed = await cli('workers');
  t.match(listed.out, new RegExp(`${worker} .*${seq}`), JSON.stringify(listed));
  const look = async () => JSON.stringify(await diagnose(deliveryChecks, env, { url }));
  t.match(await look(), new RegExp(`relay workers skip ${worker} --seq ${seq} --reason`));

  const skip = async (body: object) =>
    await fetch(`${url}/ops/workers/${worker}/skip`, { method: 'POST', headers, body: JSON.stringify(body) });
  t.equal((await skip({ seq: seq + 1, reason: 'x' })).status, 409);
  const skipped = await cli('workers', 'skip', worker, '--seq', String(seq), '--reason', 'a broken producer');
  t.match(skipped, { code: 0, out: new RegExp(`${worker} goes on without ${seq}`) });
  await eventually('the worker to go on', async () => (await found())?.halted.length === 0);
});

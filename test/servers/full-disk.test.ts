import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { ownLogUrl } from '../../src/cli/service/own-servers.js';
import { connectToNats } from '../../streams/core/nats.js';
import { postEvent, sampleEvent, startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { newNatsServer } from '../support/nats.js';
import { needsDisk, smallDisk } from '../support/small-disk.js';

const newer = newNatsServer();
const skip = needsDisk.skip || (newer ? false : 'needs a nats-server of 2.12 or newer');

t.test('a log server that stores nothing more after its disk was full is restarted', { skip }, async (t) => {
  process.env.PATH = `${dirname(newer!.path)}:${process.env.PATH}`;
  const disk = smallDisk(t, 48);
  const dataDir = t.testdir();
  symlinkSync(disk.dir, join(dataDir, 'nats'));
  const settings = { DATA_DIR: dataDir, ROLES: 'api,projections', STREAMS_MAX_BYTES: '40000000' };
  const { url } = await startApp(t, settings);
  const accepted: string[] = [];
  const post = async (id: string) => {
    const payload = { id, title: 'Large', notes: 'x'.repeat(150_000) };
    const { status, body } = await postEvent(url, sampleEvent(id, { payload }));
    if (status === 202) accepted.push(id);
    return { status, body };
  };
  const readiness = async () =>
    (await (await fetch(`${url}/ready`)).json()) as { ready: boolean; error?: string };
  const restarts = async () =>
    Number(/^relay_log_server_write_restarts (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);

  t.match(await post('evt-before'), { status: 202 });
  await disk.fill(200_000);
  let last: Awaited<ReturnType<typeof post>> | undefined;
  for (let n = 0; n < 10 && last?.status !== 503; n++) last = await post(`evt-${n}`);
  t.match(last, { status: 503, body: { code: 'log_unavailable' } }, 'there is no room for all of them');
  await eventually(
    'the full disk to be told',
    async () => (await readiness()).error === 'the disk of the event log is full',
  );
  t.equal(await restarts(), 0, 'a restart would not help yet');

  await disk.clear();
  await eventually('an event to be taken again', async () => (await post('evt-after')).status === 202);
  await eventually('readiness to come back', async () => (await readiness()).ready);
  t.equal(await restarts(), 1);
  const connection = await connectToNats(ownLogUrl(dataDir)!, 'test');
  t.teardown(() => connection.close());
  const { streams } = await connection.jetstreamManager();
  for (const id of accepted)
    t.match(await streams.getMessage('MARKET', { last_by_subj: `market.event.${id}` }), { seq: Number }, id);
});

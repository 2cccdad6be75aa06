import pino from 'pino';
import t from 'tap';
import { DeletedRooms } from '../../src/services/deleted-rooms.js';
import { type ChannelFact, channelSubject, channels } from '../../streams/channels/index.js';
import { Log } from '../../streams/core/index.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';

const logger = pino({ level: 'silent' });
const created = (name: string): ChannelFact => ({
  type: 'channel.created',
  data: { name, type: 'task', modes: '+nt', topic: '', invite_list: [], metadata: {}, cause: 'request' },
});
const deleted = (name: string): ChannelFact => ({
  type: 'channel.deleted',
  data: { name, cause: 'request' },
});

t.test('CHAN-82 what is known of deleted rooms is what the log has', async (t) => {
  const nats = await startNats(t);
  const log = await Log.open({
    ...{ urls: nats.url, name: 'test', streams: [channels], replicas: 1, maxBytes: 100_000_000, logger },
  });
  t.teardown(() => log.close());
  const append = (fact: ChannelFact) =>
    log.append(channels, channelSubject(fact.data.name), fact, { by: 'test' });
  const asked: string[] = [];
  const rooms = new DeletedRooms(
    {
      head: (stream) => log.head(stream),
      follow: (stream, options) => log.follow(stream, options),
      last: (stream, subject) => {
        asked.push(subject);
        return log.last(stream, subject);
      },
    },
    logger,
  );
  t.teardown(() => rooms.stop());

  await append(deleted('#task-gone'));
  await append(created('#task-here'));
  t.equal(await rooms.has('#task-gone'), true);
  t.equal(await rooms.has('#task-here'), false);
  t.equal(await rooms.has('#task-never'), false);

  await append(created('#task-gone'));
  await append(deleted('#task-here'));
  await append(deleted('#task-never'));
  await eventually('the changes to be heard', async () => {
    const now = [
      await rooms.has('#task-gone'),
      await rooms.has('#task-here'),
      await rooms.has('#task-never'),
    ];
    return now.join() === 'false,true,true';
  });
  t.ok(asked.length <= 3, `the log was asked ${asked.length} times`);

  await nats.kill();
  await nats.start();
  await append(created('#task-here'));
  await eventually('a change after a crash of the log server to be heard', async () => {
    return !(await rooms.has('#task-here'));
  });
});

t.test('CHAN-82 while the log is away nothing is taken for known, and afterwards it is asked', async (t) => {
  const nats = await startNats(t);
  const log = await Log.open({
    ...{ urls: nats.url, name: 'test', streams: [channels], replicas: 1, maxBytes: 100_000_000, logger },
  });
  t.teardown(() => log.close());
  await log.append(channels, channelSubject('#task-gone'), deleted('#task-gone'), { by: 'test' });
  const rooms = new DeletedRooms(log, logger);
  t.teardown(() => rooms.stop());
  await nats.kill();
  await t.rejects(rooms.has('#task-gone'), { code: 'log_unavailable' });
  await nats.start();
  t.equal(await eventually('the log to answer', () => rooms.has('#task-gone')), true);
});

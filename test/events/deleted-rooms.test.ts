import { pino } from 'pino';
import t from 'tap';
import { DeletedRooms } from '../../src/operations/events/deleted-rooms.js';
import { type ChannelFact, channelSubject, channels } from '../../streams/channels/index.js';
import { clock, useClock } from '../../streams/core/clock.js';
import type { Log } from '../../streams/core/index.js';
import { openLog } from '../delivery/stage.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';

const room = '#task-one';
const created: ChannelFact = {
  type: 'channel.created',
  data: {
    name: room,
    type: 'task',
    topic: '',
    modes: '+int',
    metadata: {},
    invite_list: [],
    cause: 'automation',
  },
};
const deleted: ChannelFact = { type: 'channel.deleted', data: { name: room, cause: 'lifecycle' } };

t.test('CHAN-93 whether a room is deleted', async (t) => {
  const nats = await startNats(t);
  const [log, other] = [await openLog(t, nats.url), await openLog(t, nats.url, 'other')];
  const append = async (fact: ChannelFact) =>
    await other.append(channels, channelSubject(room), fact, { by: 'test' });
  let asked = 0;
  const counting: Pick<Log, 'head' | 'follow' | 'last'> = {
    head: (stream) => log.head(stream),
    follow: (stream, options) => log.follow(stream, options),
    last: (stream, subject) => {
      asked += 1;
      return log.last(stream, subject);
    },
  };
  const rooms = new DeletedRooms({ log: counting as Log, logger: pino({ level: 'silent' }) });
  t.teardown(() => rooms.stop());

  t.equal(await rooms.deletedAt(room), undefined, 'it never was');
  t.equal(await rooms.deletedAt(room), undefined);
  t.equal(asked, 1, 'the log is asked once');

  await append(created);
  await append(deleted);
  const at = (await log.last(channels, channelSubject(room)))!.at;
  await eventually('the deletion', async () => (await rooms.deletedAt(room)) !== undefined);
  t.same(await rooms.deletedAt(room), at);
  await append(created);
  await eventually('the room', async () => (await rooms.deletedAt(room)) === undefined);
  t.equal(asked, 1, 'what another process records is seen without asking');

  t.teardown(useClock({ ...clock, now: () => Date.now() + 61_000 }));
  t.equal(await rooms.deletedAt(room), undefined);
  t.equal(asked, 2, 'what nothing was heard of for a minute is asked again');
});

t.test('CHAN-93 without the log nothing is remembered', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  const rooms = new DeletedRooms({ log, logger: pino({ level: 'silent' }) });
  t.teardown(() => rooms.stop());
  await nats.kill();
  await t.rejects(rooms.deletedAt(room), { code: 'log_unavailable' });
  await nats.start();
  await eventually('the log', () => log.connected);
  await log.append(channels, channelSubject(room), deleted, { by: 'test' });
  t.ok(await rooms.deletedAt(room));
});

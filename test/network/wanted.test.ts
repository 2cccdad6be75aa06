import pino from 'pino';
import t, { type Test } from 'tap';
import {
  type ChannelCommand,
  type ChannelFact,
  channelDecider,
  channelSubject,
  channels,
} from '../../streams/channels/index.js';
import type { Log } from '../../streams/core/index.js';
import { WantedChannels } from '../../workers/network/wanted.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { openLog } from './stage.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
const by = { by: 'test' };

async function stage(t: Test) {
  const { url } = await startNats(t);
  const log = await openLog(t, url);
  return {
    log,
    command: async (command: ChannelCommand) =>
      (await log.handle(channels, channelDecider, command, by)).position.seq,
    fact: async (fact: ChannelFact) =>
      (await log.append(channels, channelSubject(fact.data.name), fact, by)).seq,
    wanted: (given: string[] = []) => follow(t, log, given),
  };
}

/** What is wanted as soon as all is taken in, and how many facts were read for it. */
async function follow(t: Test, log: Log, given: string[]) {
  let read = 0;
  const counting: Log = Object.create(log, {
    follow: {
      value: async function* (...args: Parameters<Log['follow']>) {
        for await (const entries of log.follow(...args)) {
          read += entries.length;
          yield entries;
        }
      },
    },
  });
  const wanted = new WantedChannels(given);
  const stop = new AbortController();
  let isKnown = false;
  const following = wanted.follow(counting, logger, stop.signal, () => {
    isKnown = true;
  });
  t.teardown(async () => {
    stop.abort();
    await following;
  });
  await eventually('the channels to be known', () => isKnown);
  return { wanted, read: () => read };
}

const create = (name: string): ChannelCommand => ({
  is: 'create',
  name,
  type: 'task',
  modes: '+nt',
  topic: '',
  metadata: {},
  invite_list: [],
  cause: 'request',
});
const remove = (name: string): ChannelCommand => ({ is: 'delete', name, cause: 'request' });
const voice = (name: string, nick: string): ChannelCommand => ({
  is: 'record members',
  name,
  action: 'voice',
  nicks: [nick],
  reason: '',
});

t.test('the start of a recorder reads a fact a channel, however much was done in it', async (t) => {
  const { command, wanted } = await stage(t);
  const names = Array.from({ length: 10 }, (_, n) => `#task-${n}00`);
  const lives = new Map<string, number>();
  for (const name of names) lives.set(name, await command(create(name)));
  await Promise.all(
    names.map(async (name) => {
      for (let n = 0; n < 40; n++) await command(voice(name, `n${n}`));
    }),
  );
  const [again, gone] = names as [string, string];
  for (const name of [again, gone]) await command(remove(name));
  lives.set(again, await command(create(again)));
  await command(voice(again, 'ann'));
  lives.delete(gone);

  const found = await wanted();
  t.same(new Map(found.wanted.lives), lives, 'the last life of each');
  t.same([...found.wanted.names.keys()].sort(), [...lives.keys()].sort());
  t.same([...found.wanted.deleted.keys()], [gone]);
  t.equal(found.read(), names.length);

  const later = await command(create('#task-later'));
  await eventually('a new one', () => found.wanted.lives.get('#task-later') === later);
  await command(remove('#task-later'));
  await eventually('its end', () => found.wanted.deleted.has('#task-later'));
});

t.test('facts that do not tell of which life they are, and one that nobody can read', async (t) => {
  const { log, command, fact, wanted } = await stage(t);
  const old = (name: string, nick: string) =>
    fact({ type: 'members.changed', data: { name, action: 'voice', nicks: [nick], reason: '' } });
  await command(create('#task-old'));
  await command(remove('#task-old'));
  const second = await command(create('#task-old'));
  for (let n = 0; n < 50; n++) await old('#task-old', `n${n}`);
  const unread = await command(create('#task-unread'));
  await log.connection.request(channelSubject('#task-unread'), '{"type":"channel.unheard_of"}', {
    timeout: 30_000,
  });
  const given = await command(create('#lobby'));
  await fact({ type: 'channel.deleted', data: { name: '#lobby', cause: 'request' } });
  await command(create('#task-ended'));
  await fact({ type: 'channel.deleted', data: { name: '#task-ended', cause: 'request' } });

  const { wanted: found } = await wanted(['#Lobby']);
  t.same(
    new Map(found.lives),
    new Map([
      ['#task-old', second],
      ['#task-unread', unread],
      ['#lobby', given],
    ]),
  );
  t.same([...found.names.values()].sort(), ['#lobby', '#task-old', '#task-unread']);
  t.same([...found.deleted.keys()], ['#task-ended']);

  await old('#task-old', 'ann');
  await command(voice('#task-old', 'bob'));
  const again = await command(create('#task-ended'));
  await eventually('what came later', () => found.lives.get('#task-ended') === again);
  t.equal(found.lives.get('#task-old'), second);
});

t.test('many channels whose facts are all old', async (t) => {
  const { command, fact, wanted } = await stage(t);
  const lives = new Map<string, number>();
  for (let n = 0; n < 40; n++) {
    const name = `#task-old-${n}`;
    await command(create(name));
    await fact({ type: 'channel.deleted', data: { name, cause: 'request' } });
    if (n % 2 === 0) lives.set(name, await command(create(name)));
    await fact({ type: 'topic.changed', data: { name, topic: 'old' } });
  }
  for (let n = 1; n < 40; n += 2)
    await fact({ type: 'channel.deleted', data: { name: `#task-old-${n}`, cause: 'request' } });
  const { wanted: found } = await wanted();
  t.same(new Map(found.lives), lives);
  t.same([...found.names.keys()].sort(), [...lives.keys()].sort());
  t.equal(found.deleted.size, 20);
});

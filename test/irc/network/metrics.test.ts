import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../../support/eventually.js';
import { startIrcd } from '../../support/ircd.js';
import { networkStage, operatorOn, userOn } from './stage.js';

t.test('NET-09 what is recorded and what is done to channels is counted', async (t) => {
  const ircd = await startIrcd(t);
  const { app, ask } = await networkStage(t, ircd);
  const scrape = async () => {
    const text = await (await fetch(`${app.url}/metrics`)).text();
    return (sample: string) => {
      const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
      return line === undefined ? undefined : Number(line.split(' ').at(-1));
    };
  };
  const until = async (what: string, isSo: (value: (sample: string) => number | undefined) => boolean) =>
    await eventually(what, async () => {
      const value = await scrape();
      return isSo(value) && value;
    });
  const operations = (operation: string, outcome: string) =>
    `relay_channel_operations_total{operation="${operation}",outcome="${outcome}"}`;
  const repairs = (repair: string) => `relay_channel_repairs_total{repair="${repair}"}`;
  const rooms = (state: string, nick: string) => `relay_irc_rooms_${state}{nick="${nick}"}`;

  const start = await until('the four rooms of the network', (value) => value(rooms('held', 'relay')) === 4);
  const zero = [
    operations('create', 'done'),
    operations('expire', 'done'),
    repairs('changed'),
    repairs('removed'),
  ];
  for (const sample of zero) t.equal(start(sample), 0, `${sample} is there from the start`);

  const body = { name: '#task-counted', type: 'task', modes: '+int', topic: 'Counted' };
  t.equal((await ask('POST', '/channels', body)).status, 201);
  t.equal((await ask('POST', '/channels', body)).status, 409);
  t.equal((await ask('PATCH', '/channels/task-counted', { topic: 'Again' })).status, 200);
  const ann = await userOn(t, ircd, 'ann');
  await ann.join('#lobby');
  const before = (await scrape())('relay_recorded_lines_total')!;
  await ann.ask('PRIVMSG #lobby :one', 'PRIVMSG #lobby :two', 'NOTICE #lobby :three');
  const value = await until(
    'the lines to be counted',
    (now) => now('relay_recorded_lines_total') === before + 3 && now(rooms('held', 'relay')) === 5,
  );
  t.ok(value('relay_recorded_batches_total')! > 0);
  t.equal(value('relay_recorded_gaps_total'), 0);
  t.equal(value(operations('create', 'done')), 1);
  t.equal(value(operations('create', 'channel_exists')), 1);
  t.equal(value(operations('update', 'done')), 1);
  t.equal(value(rooms('expected', 'relay')), 5);
  t.equal(value(rooms('expected', 'channelserv')), 1);
  t.equal(value(rooms('held', 'channelserv')), 1);
  for (const part of ['recording', 'channels']) t.equal(value(`relay_up{part="${part}"}`), 1);

  const witness = await operatorOn(t, ircd, 'witness');
  await witness.ask('SAMODE #task-counted -i', 'SAKICK #task-counted channelserv :out');
  const mended = await until(
    'the repair of a channel whose bot was put out',
    (now) => now(repairs('changed'))! > value(repairs('changed'))!,
  );

  await ircd.kill();
  await rm(join(ircd.dir, 'permchannels.conf'), { force: true });
  await until('the bots to be away', (now) => now(rooms('held', 'channelserv')) === 0);
  await ircd.start();
  const after = await until(
    'everything to be back',
    (now) =>
      now(rooms('held', 'channelserv')) === 1 &&
      now(rooms('held', 'relay')) === 5 &&
      // made again by the channel bot, or only mended where the recorder was the first to enter it
      now(repairs('changed'))! > mended(repairs('changed'))!,
  );
  t.ok(after('relay_recorded_gaps_total')! >= 1, 'the history went with the server');
});

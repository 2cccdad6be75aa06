import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../../support/eventually.js';
import { startIrcd } from '../../support/ircd.js';
import { networkStage, operatorOn, userOn } from './stage.js';

const count = 200;

t.test('NET-08 a network that has lost everything is made again as it is recorded', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await networkStage(t, ircd, { CHANNEL_CREATIONS_PER_HOUR: '0' });
  const { ask } = stage;
  const witness = await operatorOn(t, ircd, 'witness');
  const ann = await userOn(t, ircd, 'ann');
  const names = Array.from({ length: count }, (_, n) => `#task-n${n}`);
  const create = async (name: string) => {
    const invite_list = ['em-bot', ...(name === '#task-n1' ? ['ann'] : [])];
    const body = { name, type: 'task', modes: '+int', topic: `Topic of ${name}`, invite_list };
    return (await ask('POST', '/channels', body)).status;
  };
  const created: number[] = [];
  for (let from = 0; from < count; from += 50)
    created.push(...(await Promise.all(names.slice(from, from + 50).map(create))));
  t.ok(created.every((status) => status === 201));
  t.equal((await ask('DELETE', '/channels/task-n7', { reason: 'Done' })).status, 200);
  t.equal((await ask('PATCH', '/channels/task-n8', { modes: '+k key' })).status, 200);
  const bots = ['channelserv', 'em-bot', 'relay'];
  const standing = async () => {
    const all = [];
    for (const name of names) all.push(await stage.onServer(witness, name));
    return all;
  };
  const isComplete = (all: Awaited<ReturnType<typeof standing>>) =>
    all.every((one) => one && bots.every((bot) => one.members.includes(bot)) && one.modes.includes('P'));
  const before = await eventually('all bots in all channels', async () => {
    const all = await standing();
    return isComplete(all) && all;
  });

  await ircd.kill();
  // written every few seconds: it may not be there yet
  await rm(join(ircd.dir, 'permchannels.conf'), { force: true });
  await ircd.start();
  const started = performance.now();
  // a repeated request for an existing channel does not keep it from being made again
  const answers = new Set<number>();
  let asking = true;
  const asked = (async () => {
    while (asking) answers.add(await create('#task-n3'));
  })();
  await witness.waitUntil(() => witness.connects === 2 && witness.connected, 'to be back');
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  let last: unknown;
  const after = await eventually('the channels to be as they were', async () => {
    const all = await standing();
    const other = all.findIndex((one, n) => JSON.stringify(one) !== JSON.stringify(before[n]));
    last = { name: names[other], is: all[other] };
    return other < 0 && all;
  }).catch((error: Error) => t.fail(error.message, { last }));
  t.comment(`${count} channels made again ${Math.round(performance.now() - started)} ms after the server`);
  asking = false;
  await asked;
  t.ok(answers.has(409), 'it was asked for meanwhile');
  t.same(after, before);
  t.match(before[1], { members: ['ann', ...bots], modes: 'HPinst', topic: 'Topic of #task-n1' });
  t.match(before[7], { modes: 'HPimnst', topic: '[ARCHIVED] Done' });
  t.match(before[8], { modes: 'HPiknst' });
  // a bot that has newly come in gets its voice a moment later; one that was there first is an operator
  for (const bot of ['em-bot', 'relay']) {
    const maySpeak = async () =>
      new RegExp(`[+@]${bot}`).test((await witness.ask('NAMES #task-n7')).join(' '));
    t.ok(await eventually(`${bot} to have a voice`, maySpeak), `${bot} can speak in a closed room`);
  }
  await eventually('it to be recorded', async () => {
    const recorded = await stage.recorded('#task-n1');
    return recorded?.members.join() === ['ann', ...bots].join() && recorded.topic === 'Topic of #task-n1';
  });
  t.ok(ann.connected);
});

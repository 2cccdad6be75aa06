import t from 'tap';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startLinkedIrcds } from '../support/linked-ircd.js';
import { startNats } from '../support/nats.js';
import { asker, creation, openDirectory, openLog, startKeeper } from './keeper.js';
import { operatorOn } from './stage.js';

/** When a channel was made, in seconds, as a server tells it; its side wins whose channel is older. */
const madeAt = async (on: Observer, name: string): Promise<string | undefined> =>
  / 329 \S+ \S+ :?(\d+)/.exec((await on.ask(`MODE ${name}`)).join('\n'))?.[1];

const bansIn = async (on: Observer, name: string): Promise<string[]> =>
  (await on.ask(`MODE ${name} +b`)).flatMap((line) => / 367 \S+ \S+ (\S+) /.exec(line)?.[1] ?? []);

t.test('CHAN-95 what servers gave each other while no bot saw it is taken back', async (t) => {
  const [nats, network] = await Promise.all([startNats(t), startLinkedIrcds(t)]);
  const log = await openLog(t, nats.url);
  const { read } = await openDirectory(t, log);
  const near = { nats, ircd: network.near };
  const here = await operatorOn(t, network.near);
  const there = await observe(network.far.port, { nick: 'stranger', password: network.far.serverPassword });
  t.teardown(() => there.stop());
  await network.split();
  const keeper = await startKeeper(t, near, { log, read });
  // of two channels of the same second none wins, and each server takes what the other has
  const name = await eventually('a channel that was made on both sides in one second', async () => {
    const name = `#task-n${Date.now()}`;
    await Promise.all([keeper.channels.create(creation(name), asker), there.ask(`JOIN ${name}`)]);
    return (await madeAt(here, name)) === (await madeAt(there, name)) && name;
  });
  await there.ask(`MODE ${name} +bbb em-bot!*@* *!*@192.0.2.1 *!*@192.0.2.2`, `MODE ${name} -o stranger`);
  await here.ask(`SAMODE ${name} +b by-hand!*@*`);
  await keeper.stop();
  await network.relink();
  t.same((await bansIn(here, name)).sort(), ['*!*@192.0.2.1', '*!*@192.0.2.2', 'by-hand!*@*', 'em-bot!*@*']);
  // the server that brought them may be gone before a bot comes
  await network.split();

  let recorded: string[] | undefined;
  await startKeeper(t, near, { log, read, masksIn: async () => recorded });
  await eventually('the ban on our bot to be taken back', async () => (await bansIn(here, name)).length < 4);
  t.same(
    (await bansIn(here, name)).sort(),
    ['*!*@192.0.2.1', '*!*@192.0.2.2', 'by-hand!*@*'],
    'what may be of moderation stays while nobody can tell',
  );

  recorded = ['*!*@192.0.2.2'];
  await eventually(
    'the bans to be taken back once it can be read what moderation has set',
    async () => (await bansIn(here, name)).length < 3,
  );
  t.same(
    (await bansIn(here, name)).sort(),
    ['*!*@192.0.2.2', 'by-hand!*@*'],
    'what somebody set by hand stays, and what moderation has recorded',
  );
});

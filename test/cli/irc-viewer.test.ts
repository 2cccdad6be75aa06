import t from 'tap';
import { IrcViewer, type ViewedLine } from '../../src/cli/demo/irc-viewer.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';

t.test('the viewer of the demo, on a real network', async (t) => {
  const ircd = await startIrcd(t);
  const seen: ViewedLine[] = [];
  const viewer = await IrcViewer.connect(ircd.url, 'guest', (line) => void seen.push(line));
  const second = await IrcViewer.connect(ircd.url, 'guest', () => {});
  t.teardown(() => {
    viewer.close();
    second.close();
  });
  const talker = await observe(ircd.port, {
    nick: 'talker',
    channels: ['#lobby', '#closed'],
    password: ircd.serverPassword,
  });
  t.teardown(() => talker.stop());
  await talker.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #closed +i');

  t.same(await viewer.enter(['#Lobby', '#brand-new']), []);
  t.same(await viewer.enter(['#lobby', '#closed']), ['#closed'], 'closed to guests');
  t.same(await second.enter(['#lobby']), [], 'a nick that is taken gets a tail');

  talker.send('PRIVMSG #lobby :one :two', 'PRIVMSG #closed :unseen');
  await viewer.sees('#lobby', 'one :two', 5_000);
  t.match(seen, [{ channel: '#lobby', nick: 'talker', text: 'one :two', at: Date }]);
  t.ok((await viewer.list()).includes('#brand-new'));

  await t.rejects(viewer.sees('#lobby', 'unseen', 50), {
    message: 'the IRC viewer waited 0.05 s in vain for "unseen" in #lobby',
  });
  await t.rejects(
    viewer.sees('#lobby', 'one :two', 50, viewer.lines.length),
    'what was before does not count',
  );
  const { port } = ircd;
  await ircd.kill();
  await t.rejects(viewer.sees('#lobby', 'unseen', 5_000), { message: /lost its connection/ });
  await t.rejects(
    IrcViewer.connect(`irc://127.0.0.1:${port}`, 'guest', () => {}),
    { message: /ECONNREFUSED/ },
  );
});

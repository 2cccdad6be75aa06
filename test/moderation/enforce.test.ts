import t from 'tap';
import { enforce } from '../../workers/channels/enforce.js';
import { credentials, joinOne, startBot } from '../irc/bot.js';
import { startIrcd } from '../support/ircd.js';

t.test('MOD-22 what was done before and not recorded is done when it is asked for again', async (t) => {
  const ircd = await startIrcd(t);
  const session = await startBot(t, { ...credentials(ircd), nick: 'channelserv' }).session();
  await joinOne(session, '#lobby');
  const who = { channel: '#lobby', nick: 'mallory', host: 'mal@127.0.0.1', text: 'Attack' };
  const masks = { ban: 'U:*!*@127.0.0.1', quiet: 'm:U:*!*@127.0.0.1' };
  for (const act of ['ban', 'quiet'] as const) {
    const mask = masks[act];
    // a ban is meant for who is away too
    for (const time of ['first', 'second'])
      t.same(await enforce(session, { act, ...who }), { is: 'done', mask }, `${act}, ${time} time`);
    for (const time of ['first', 'second'])
      t.same(
        await enforce(session, { act: `un${act}`, ...who, mask }),
        { is: 'done', mask },
        `un${act}, ${time}`,
      );
    await enforce(session, { act, ...who });
    const perhaps = { act: `un${act}`, ...who } as const;
    t.same(await enforce(session, { ...perhaps, unless: [mask] }), { is: 'done' }, 'another one needs it');
    t.same(
      await enforce(session, { ...perhaps, unless: ['*!*@*'] }),
      { is: 'done', mask },
      'it may be there',
    );
  }
});

import t from 'tap';
import { prepareRoom } from '../../workers/channels/room.js';
import { voiceWhoCame } from '../../workers/channels/voices.js';
import type { Session } from '../../workers/irc/session.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { credentials, startBot } from './bot.js';
import { operatorOn, userOn } from './network/stage.js';

t.test('NET-08 a bot that comes in while its channel is looked at has a voice there', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, { ...credentials(ircd), nick: 'channelserv' });
  const session = await bot.session();
  await userOn(t, ircd, 'em-bot');
  await userOn(t, ircd, 'ann');
  const operator = await operatorOn(t, ircd, 'witness');
  const bots = ['em-bot'];
  const came: string[] = [];
  // between the list of members and what is made of it
  const inBetween = async (...command: string[]) => {
    if (command[0] === 'MODE') {
      await operator.ask('SAJOIN em-bot #closed', 'SAJOIN ann #closed');
      await eventually('both to come in', () => came.includes('em-bot') && came.includes('ann'));
    }
    return await session.ask(command[0]!, ...command.slice(1));
  };
  const slow: Session = new Proxy(session, {
    get: (of, name) => {
      if (name === 'ask') return inBetween;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  bot.connection.on('line', (line) => {
    voiceWhoCame(slow, line, bots);
    if (line.command === 'JOIN') came.push(line.nick);
  });
  const wanted = { name: '#closed', type: 'task', modes: '+mnt', topic: 'Done', invited: bots } as const;
  const { members, refused } = await prepareRoom(slow, wanted, { bots, masksIn: async () => [] });
  t.equal(refused, undefined);
  t.notOk(members.has('em-bot'), 'it was not there yet when one looked');
  const names = async () => (await operator.ask('NAMES #closed')).join(' ');
  await eventually('the bot to have a voice', async () => (await names()).includes('+em-bot'));
  t.notOk((await names()).includes('+ann'), 'and nobody else');
});

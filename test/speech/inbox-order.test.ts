import pino from 'pino';
import t from 'tap';
import { type Log, Unavailable } from '../../streams/core/index.js';
import { inbox, inboxSubjects } from '../../streams/speech/index.js';
import { parseLine } from '../../workers/irc/line.js';
import type { Agent } from '../../workers/speech/agent.js';
import { Inbox } from '../../workers/speech/inbox.js';
import { OwnLines } from '../../workers/speech/own-lines.js';
import { openLog } from '../identity/log.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';

t.test('SPEAK-33 what is said to an agent is recorded as it was heard', async (t) => {
  const log = await openLog(t, await startNats(t));
  const logger = pino({ level: 'silent' });
  let failures = 1;
  // the log is away for the first of them
  const failing = new Proxy(log, {
    get: (target, name) => {
      if (name === 'head' && failures-- > 0) return () => Promise.reject(new Unavailable('log_unavailable'));
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as Log;
  const heard = new Inbox(failing, logger, 'relay', new OwnLines(log, logger));
  t.teardown(() => heard.stop());
  const alice = { nick: 'Alice' } as Agent;
  for (const text of ['one', 'two', 'three'])
    heard.take(alice, parseLine(`:bob!b@host PRIVMSG Alice :${text}`));
  heard.take({ nick: 'carol' } as Agent, parseLine(':bob!b@host PRIVMSG carol :hello'));
  const texts = async (nick: string) => {
    const found: unknown[] = [];
    for await (const { type, data } of log.subject(inbox, inboxSubjects(nick).now))
      if (type === 'message.received') found.push(data.text);
    return found;
  };
  await eventually('all of them', async () => (await texts('alice')).length === 3);
  t.same(await texts('alice'), ['one', 'two', 'three']);
  t.same(await texts('carol'), ['hello']);
});

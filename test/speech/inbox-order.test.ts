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

t.test('SPEAK-37 one person under many nicks does not push out what others said', async (t) => {
  const log = await openLog(t, await startNats(t));
  const logger = pino({ level: 'silent' });
  const heard = new Inbox(log, logger, 'relay', new OwnLines(log, logger));
  t.teardown(() => heard.stop());
  const alice = { nick: 'Alice' } as Agent;
  const hear = (line: string) => heard.take(alice, parseLine(line));
  hear(':bob!b@home.example PRIVMSG Alice :from a friend');
  for (let n = 0; n < 240; n++) {
    hear(`:m${n % 12}!u@203.0.113.5 PRIVMSG Alice :flood ${n}`);
    hear(`@account=eve :e${n % 12}!u@host${n % 12}.example PRIVMSG Alice :account ${n}`);
  }
  hear(':carol!b@home.example PRIVMSG Alice :from another one');
  // on this machine many agents share one host
  for (let n = 0; n < 70; n++) hear(`:w${n}!u@127.0.0.1 PRIVMSG Alice :report ${n}`);
  const texts = async () => {
    const found: string[] = [];
    for await (const { type, data } of log.subject(inbox, inboxSubjects('alice').now))
      if (type === 'message.received') found.push(data.text);
    return found;
  };
  await eventually('all that is recorded', async () => (await texts()).includes('report 69'));
  const all = await texts();
  const count = (word: string) => all.filter((text) => text.startsWith(word)).length;
  t.equal(count('flood'), 60, 'those of a host');
  t.equal(count('account'), 60, 'those of an account, wherever it is');
  t.same([count('from'), count('report')], [2, 70], 'nobody else');
});

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

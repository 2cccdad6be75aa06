import t from 'tap';
import type { IrcMessage } from '../../src/client/index.js';
import { type IrcFact, irc, ircSubject } from '../../streams/network/index.js';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { readEvents } from '../support/sse.js';

t.test('IRC-26 a stream that goes on shows of the past what the reads show', async (t) => {
  const { ask, given, app, log } = await keysStage(t);
  let at = 0;
  const say = async (channel: string, text: string, life?: number) => {
    const seen: IrcFact['data']['seen'] = [{ is: 'message', at: at++, nick: 'bob', text }];
    const data = { channel, lines_before: 0, seen, ...(life === undefined ? {} : { life }) };
    await log.append(irc, ircSubject(channel), { type: 'channel.observed', data }, { by: 'test' });
  };
  await say('#again', 'plain');
  await say('#again', 'earlier', 7);
  await say('#Again', 'again', 8);
  await say('#managed', 'before it was managed');
  await say('#managed', 'and since', 9);
  const alice = await given('alice', ['read', 'speak']);
  const read = async (channel: string, headers: Record<string, string>) =>
    (await ask('GET', `/irc/channels/${channel}/messages`, undefined, headers)).body as IrcMessage[];
  await eventually('the record', async () => (await read('managed', operator)).length === 2);
  const textsOf = (lines: { text?: unknown }[]) => lines.map(({ text }) => text);

  const both = ['before it was managed', 'and since'];
  for (const [who, headers, channel, texts] of [
    ['nobody', {}, 'again', ['again']],
    ['nobody', {}, 'managed', both],
    ['an agent', alice.headers, 'again', ['again']],
    ['an operator', operator, 'again', ['plain', 'earlier', 'again']],
  ] as [string, Record<string, string>, string, string[]][]) {
    t.same(textsOf(await read(channel, headers)), texts, `${who} reads ${channel}`);
    const { heard } = await readEvents(t, `${app.url}/irc/stream?channel=${channel}&after=0-0`, headers);
    await eventually('the last line', () => heard.at(-1)?.data.text === texts.at(-1));
    t.same(textsOf(heard.map(({ data }) => data)), texts, `${who} goes on in ${channel}`);
  }

  const url = `${app.url}/irc/listen?channels=again,managed&after=0.0-0`;
  const { heard } = await readEvents(t, url, alice.headers);
  const lines = () => heard.flatMap(({ event, data }) => (event === 'line' ? [data.text] : []));
  await eventually('the last line', () => lines().includes('and since'));
  t.same(lines(), ['again', ...both]);
});

import t, { type Test } from 'tap';
import { skills } from '../../src/a2a/skills.js';
import type { Log } from '../../streams/core/index.js';
import { type Incident, moderation, personDecider, personSubject } from '../../streams/moderation/index.js';
import { irc, ircSubject, lineId } from '../../streams/network/index.js';
import { askOf } from '../channels/stage.js';
import { Listener } from '../network/listener.js';
import { openLog } from '../network/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { attack } from './stage.js';

const key = 'k'.repeat(32);
const keyed = { 'x-api-key': key };
const mark = '[withheld: guardian]';
const by = { by: 'test' };
const subject = personSubject('host h');

/** Records that these were said in #lobby; the id of the first. */
async function said(log: Log, ...texts: string[]): Promise<{ seq: number; id(index: number): string }> {
  const seen = texts.map((text) => ({
    is: 'message' as const,
    at: Date.now(),
    nick: 'eve',
    host: 'u@h',
    text,
  }));
  const channel = '#lobby';
  const snapshot = { is: 'snapshot' as const, at: Date.now(), members: ['eve'], modes: 'nt', topic: '' };
  const data = { channel, lines_before: 0, seen: [snapshot, ...seen] };
  const { seq } = await log.append(irc, ircSubject(channel), { type: 'channel.observed', data }, by);
  return { seq, id: (index) => lineId(seq, index + 1) };
}

/** Records an incident of a line. */
async function judge(
  log: Log,
  line: string,
  action: Incident['action'],
  fields: Partial<Incident> = {},
): Promise<string> {
  const ref = `line:${line}`;
  const level = ({ ban: 'BAN', kick: 'KICK', quiet: 'MUTE', notice: 'WARN' } as const)[action as 'ban']!;
  const data = {
    ref,
    person: 'host h',
    nick: 'eve',
    channel: '#Lobby',
    said_at: new Date().toISOString(),
    score: 80,
    text_score: 80,
    level,
    patterns: 'override',
    text_hash: 'ab',
    action,
    ...fields,
  };
  await log.append(moderation, subject, { type: 'incident.recorded', data }, by);
  return ref;
}

async function stage(t: Test, environment: Record<string, string> = {}) {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,services,projections',
    API_KEYS: `ops:${key}`,
    ...environment,
  });
  const texts = async (headers = {}) => {
    const { body } = await askOf(app.url, 'GET', '/irc/channels/lobby/messages', undefined, headers);
    return (body as { text: string }[]).map(({ text }) => text);
  };
  return { app, log, texts };
}

t.test('MOD-27 what somebody was kicked for is withheld from readers', async (t) => {
  const { app, log, texts } = await stage(t);
  const { id } = await said(log, 'good morning', `${attack} 1`, `${attack} 2`, `${attack} 3`, `${attack} 4`);
  await judge(log, id(1), 'notice');
  await judge(log, id(2), 'quiet');
  const kicked = await judge(log, id(3), 'kick');
  await judge(log, id(4), 'ban');
  const shown = ['good morning', `${attack} 1`, `${attack} 2`];
  await eventually(
    'two lines to be withheld',
    async () => (await texts()).filter((one) => one === mark).length === 2,
  );
  t.same(await texts(), [...shown, mark, mark]);
  t.same(await texts(keyed), [...shown, `${attack} 3`, `${attack} 4`], 'an operator sees the original');

  await t.test('in what the stream replays', async (t) => {
    const stream = await Listener.open(t, `${app.url}/irc/stream?channel=lobby&after=0-0`);
    await stream.until(5);
    t.same(stream.texts(), [...shown, mark, mark]);
  });

  await t.test('by MCP and by A2A', async (t) => {
    const rpc = async (path: string, method: string, params: object, headers = {}) => {
      const request = { jsonrpc: '2.0', id: 1, method, params };
      return JSON.stringify((await askOf(app.url, 'POST', path, request, headers)).body);
    };
    const messages = { name: 'svc_get_messages', arguments: { channel: 'lobby' } };
    const made = await askOf(app.url, 'POST', '/auth/keys', { nick: 'nora', scopes: ['read'] }, keyed);
    const told = await rpc('/mcp', 'tools/call', messages, { 'x-api-key': made.body.key });
    t.equal(JSON.stringify(JSON.parse(told).result.content).split(mark).length - 1, 2);
    for (const n of [1, 2]) t.ok(told.includes(`${attack} ${n}`));
    for (const n of [3, 4]) t.notOk(told.includes(`${attack} ${n}`));
    const seen = await rpc('/mcp', 'tools/call', messages, keyed);
    for (const n of [3, 4]) t.ok(seen.includes(`${attack} ${n}`), 'an operator sees the original');
    for (const skill of skills) {
      const parts = [{ kind: 'data', data: { skill: skill.id } }];
      const message = { kind: 'message', messageId: skill.id, role: 'user', parts };
      const answer = await rpc('/a2a/v1', 'message/send', { message });
      t.match(answer, /"result"/, skill.id);
      t.notOk(answer.includes(attack), `${skill.id} tells no line`);
    }
  });

  await t.test('also where it was too late to act', async (t) => {
    const line = await said(log, `${attack} 8`, `${attack} 9`);
    await judge(log, line.id(0), 'none', { level: 'BAN', spared: 'late' });
    await judge(log, line.id(1), 'none', { level: 'MUTE', spared: 'late' });
    await eventually('the judgement', async () => (await texts()).at(-1) === `${attack} 9`);
    t.same((await texts()).slice(-2), [mark, `${attack} 9`]);
  });

  await t.test('in the live stream, where what looks like an attack waits for its judgement', async (t) => {
    const open = await Listener.open(t, `${app.url}/irc/stream?channel=lobby`);
    const seeing = await Listener.open(t, `${app.url}/irc/stream?channel=lobby`, keyed);
    const line = await said(log, `${attack} 5`, 'is anybody there?');
    await seeing.until(2);
    t.same(open.texts(), [], 'not yet');
    await judge(log, line.id(0), 'kick');
    await open.until(2);
    t.same(open.texts(), [mark, 'is anybody there?']);
    t.same(seeing.texts(), [`${attack} 5`, 'is anybody there?']);
    const warned = await said(log, `${attack} 6`);
    await judge(log, warned.id(0), 'notice');
    const late = await said(log, `${attack} 7`);
    await open.until(4);
    t.same(open.texts().slice(2), [`${attack} 6`, mark], 'what is not judged in time is left out');
    await judge(log, late.id(0), 'quiet');
    await eventually('the line to be shown', async () => (await texts()).at(-1) === `${attack} 7`);
  });

  await t.test('in reads, before it is judged', async (t) => {
    const before = (await texts()).length;
    const line = await said(log, 'good night', `${attack} 8`, `${attack} 9`);
    const seen = new Set<string>();
    await eventually('both lines', async () => {
      const now = await texts();
      for (const one of now) seen.add(one);
      return now.length === before + 3;
    });
    const { body } = await askOf(app.url, 'GET', '/irc/catch-up?channels=lobby');
    t.notMatch(JSON.stringify(body), `${attack} 8`, 'nor in a catch-up');
    await judge(log, line.id(2), 'notice');
    await eventually('what only earned a warning', async () => (await texts()).at(-1) === `${attack} 9`);
    await judge(log, line.id(1), 'kick');
    await eventually('the other', async () => (await texts(keyed)).length === before + 3);
    t.notOk(seen.has(`${attack} 8`) || (await texts()).includes(`${attack} 8`), 'it was never shown');
    t.ok(seen.has('good night'));
  });

  await t.test('in the stream, many at once for as long as one', async (t) => {
    const open = await Listener.open(t, `${app.url}/irc/stream?channel=lobby`);
    const asked = await said(log, ...Array.from({ length: 30 }, (_, n) => `${attack} a${n}`), 'and now?');
    // each of them would hold up the next one for two seconds
    await open.until(31);
    t.same(open.texts(), [...Array.from({ length: 30 }, () => mark), 'and now?']);
    t.ok(asked.seq > 0);
  });

  await t.test('until it is pardoned', async (t) => {
    const pardon = { is: 'pardon' as const, subject, ref: kicked, reason: '' };
    await log.handle(moderation, personDecider, pardon, by);
    await eventually('the line to be shown', async () => (await texts())[3] !== mark);
    t.equal((await texts())[3], `${attack} 3`);
  });
});

t.test('MOD-27 nothing is withheld where the operator wants it so', async (t) => {
  const { log, texts } = await stage(t, { GUARDIAN_WITHHOLD: 'false' });
  const { id } = await said(log, attack);
  await judge(log, id(0), 'ban');
  await eventually('the incident', async () => (await texts()).length === 1);
  t.same(await texts(), [attack]);
});

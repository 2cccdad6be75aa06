import t, { type Test } from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { moderationModel } from '../../projections/moderation/fold.js';
import {
  incidentRecords,
  moderationCounts,
  moderationIncidents,
  moderationReputation,
} from '../../projections/moderation/queries.js';
import {
  dueLifts,
  isOutlived,
  masksInForce,
  unansweredIncidents,
} from '../../projections/moderation/running.js';
import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type Level, levels, type ModerationFact, personOf } from '../../streams/moderation/index.js';
import { eachSql } from '../support/sql.js';

const start = Date.parse('2026-03-01T22:00:00Z');
const at = (minutes: number) => new Date(start + minutes * 60_000);

type IncidentFields = Partial<Extract<ModerationFact, { type: 'incident.recorded' }>['data']>;

/** Facts as they are recorded one after the other. */
function record() {
  const facts: Recorded[] = [];
  const tell = (minutes: number, fact: ModerationFact, by = 'guard-channels') => {
    const seq = facts.length + 1;
    const place = { id: `f${seq}`, stream: 'MODERATION', subject: `moderation.x.${seq}`, seq };
    facts.push({ ...fact, ...place, at: at(minutes), by, cause: null });
  };
  const incident = (
    ref: string,
    minutes: number,
    nick: string,
    level: Level,
    fields: IncidentFields = {},
  ) => {
    const host = `u@${nick.toLowerCase()}.example`;
    const action = (['none', 'notice', 'quiet', 'kick', 'ban'] as const)[levels.indexOf(level)]!;
    const data = {
      ref,
      person: personOf({ nick, host }),
      nick,
      host,
      channel: '#Lobby',
      said_at: at(minutes).toISOString(),
      score: 50,
      text_score: 50,
      level,
      patterns: 'override',
      text_hash: 'ab',
      text: 'a \0 b',
      action,
      ...fields,
    };
    tell(minutes, { type: 'incident.recorded', data });
  };
  return { facts, tell, incident };
}

/** Incidents of a night, and what became of them. */
function history(): Recorded[] {
  const { facts, tell, incident } = record();
  const answer = (ref: string, action: 'notice' | 'quiet' | 'ban', fields: object = {}) =>
    tell(0, { type: 'incident.answered', data: { ref, action, outcome: 'done', ...fields } });
  incident('line:1-0', 0, 'Mallory', 'WARN');
  answer('line:1-0', 'notice');
  incident('line:2-0', 1, 'mallory', 'MUTE', { seconds: 600 });
  answer('line:2-0', 'quiet', { mask: 'm:mallory!*@192.0.2.1', until: at(11).toISOString() });
  incident('line:3-0', 2, 'mallory', 'BAN', { seconds: 3_600, channel: '#task-abc' });
  answer('line:3-0', 'ban', { mask: 'mallory!*@192.0.2.1', until: at(62).toISOString() });
  incident('line:4-0', 3, 'eve', 'KICK', { account: 'evelyn', person: 'account evelyn' });
  incident('line:5-0', 130, 'eve', 'LOG');
  incident('line:6-0', 131, 'evelyn', 'WARN');
  incident('event:e1', 132, 'market', 'WARN', { person: null, action: 'withhold' });
  tell(132, { type: 'incident.upheld', data: { ref: 'line:3-0', reason: 'it was one' } }, 'bea');
  tell(133, { type: 'incident.pardoned', data: { ref: 'line:3-0', reason: 'quote' } }, 'ann');
  tell(134, { type: 'incident.lifted', data: { ref: 'line:3-0', outcome: 'failed', error: 'x' } });
  tell(135, { type: 'incident.lifted', data: { ref: 'line:3-0', outcome: 'done' } });
  incident('line:7-0', 136, 'mallory', 'MUTE', { seconds: 600 });
  answer('line:7-0', 'quiet', { mask: 'm:mallory!*@192.0.2.1', until: at(146).toISOString() });
  for (let n = 0; n < 30; n++) incident(`line:8-${n}`, 140 + n, `bot${n % 4}`, n % 3 ? 'LOG' : 'WARN');
  return facts;
}

const facts = history();

async function voices(t: Test, sql: Sql): Promise<void> {
  const { facts, tell, incident } = record();
  for (const [n, nick] of ['Bot[x]', 'bot{X}', 'Bot(x)'].entries()) {
    const ref = `line:${n}-0`;
    incident(ref, n, nick, 'MUTE', { seconds: 600 });
    const answer = { ref, action: 'quiet', outcome: 'done', voice: true, until: at(10 + n).toISOString() };
    tell(n, { type: 'incident.answered', data: answer } as ModerationFact);
  }
  await sql.query(`create schema voices; ${moderationModel.ddl('voices')}`);
  await sql.transaction((tx) => moderationModel.apply(tx, facts, 'voices'));
  const { due } = await dueLifts(sql, 'voices', at(20));
  const outlived = (ref: string) => isOutlived(sql, 'voices', due.find((one) => one.ref === ref)!, at(10.5));
  t.equal(await outlived('line:0-0'), 'yes', 'by the other spelling');
  t.equal(await outlived('line:1-0'), 'no', 'another nick keeps nothing');
}

/** People under nicks of their own in public and in private. */
function doubles(): Recorded[] {
  const { facts, tell, incident } = record();
  const of = (person: string, fields: IncidentFields = {}) => ({ person: `host ${person}`, ...fields });
  const room = { channel: '#task-42' };
  incident('line:1-0', 0, 'bob', 'WARN', of('b'));
  incident('line:2-0', 1, 'Ghost', 'MUTE', of('b', room));
  // the same nick in public, by somebody else
  incident('line:3-0', 2, 'shade', 'WARN', of('s'));
  incident('line:4-0', 3, 'shade', 'WARN', of('b', { private: true }));
  incident('line:5-0', 4, 'cas', 'WARN', of('c'));
  tell(5, { type: 'incident.pardoned', data: { ref: 'line:5-0', reason: 'quote' } }, 'ann');
  incident('line:6-0', 6, 'casper', 'WARN', of('c', { channel: '#relay-1' }));
  // in a channel that is closed by now
  incident('line:7-0', 7, 'bobby', 'WARN', of('b', { channel: '#Shut' }));
  incident('line:8-0', 8, 'spy', 'WARN', { person: 'account agent', account: 'agent', ...room });
  incident('line:9-0', 9, 'Ghost', 'WARN', of('b', room));
  return facts;
}

async function hiddenNicks(t: Test, sql: Sql, batch: number): Promise<void> {
  const schema = `hidden_${batch}`;
  const facts = doubles();
  await sql.query(`create schema ${schema}; ${moderationModel.ddl(schema)}`);
  for (let from = 0; from < facts.length; from += batch)
    await sql.transaction((tx) => moderationModel.apply(tx, facts.slice(from, from + batch), schema));
  const seen = async (nick: string, hidden?: string[]) => {
    const found = await moderationReputation(sql, schema, nick, hidden);
    return found && [found.reputation.nick, found.reputation.incident_count, found.recentIncidents.length];
  };
  const shut = ['#shut'];
  for (const nick of ['ghost', 'casper', 'bobby', 'spy', 'agent'])
    t.equal(await seen(nick, shut), undefined, `${nick} did nothing that the public may know`);
  t.same(await seen('bob', shut), ['bob', 1, 1], 'under the nick that they had in public');
  t.same(await seen('bob', []), ['bobby', 2, 2], 'a channel that is open shows more');
  t.same(
    await seen('shade', shut),
    ['shade', 1, 1],
    'who did it in public, and not who did it later in private',
  );
  t.same(await seen('cas', shut), ['cas', 0, 0], 'what was pardoned, whatever happened in private');
  const { topOffenders } = await moderationCounts(sql, schema, at(9), false);
  t.same(topOffenders, [
    { nick: 'bobby', incidents: 2 },
    { nick: 'shade', incidents: 1 },
  ]);

  for (const nick of ['ghost', 'bob', 'shade', 'bobby'])
    t.same(await seen(nick), ['Ghost', 5, 5], 'operators see all');
  t.same(await seen('agent'), ['spy', 1, 1]);
  t.same((await moderationCounts(sql, schema, at(9), true)).topOffenders, [
    { nick: 'Ghost', incidents: 5 },
    { nick: 'spy', incidents: 1 },
    { nick: 'casper', incidents: 1 },
    { nick: 'shade', incidents: 1 },
  ]);
}

eachSql(t, async (t, open) => {
  const { sql } = await open();
  let first: unknown;
  for (const batch of [1, 7, 1_000]) {
    t.test(`MOD-11 the same rows, folded in batches of ${batch}`, async (t) => {
      const schema = `by_${batch}`;
      await sql.query(`create schema ${schema}; ${moderationModel.ddl(schema)}`);
      for (let from = 0; from < facts.length; from += batch)
        await sql.transaction((tx) => moderationModel.apply(tx, facts.slice(from, from + batch), schema));
      const rows = {
        incidents: await sql.query(`select * from ${schema}.incidents order by id`),
        persons: await sql.query(`select * from ${schema}.persons order by person`),
        days: await sql.query(`select * from ${schema}.days order by day`),
        levels: await sql.query(`select * from ${schema}.levels order by level`),
      };
      t.equal(rows.incidents.length, 38);
      first ??= rows;
      t.same(rows, first);
    });
  }
  await t.test('MOD-12 what is listed and counted', (t) => reads(t, sql, 'by_7'));
  await t.test('MOD-10 what is to be done', (t) => due(t, sql, 'by_7'));
  await t.test('MOD-52 mutes by voice of one nick in two spellings', (t) => voices(t, sql));
  for (const batch of [1, 1_000])
    await t.test(`MOD-51 nicks that were used in private, folded in batches of ${batch}`, (t) =>
      hiddenNicks(t, sql, batch),
    );
});

async function reads(t: Test, sql: Sql, schema: string): Promise<void> {
  t.same(await moderationCounts(sql, schema, at(10), true), {
    total: 38,
    today: 4,
    byLevel: { LOG: 21, WARN: 13, MUTE: 2, KICK: 1, BAN: 1 },
    topOffenders: [
      ...[
        { nick: 'bot1', incidents: 8 },
        { nick: 'bot0', incidents: 8 },
        { nick: 'bot3', incidents: 7 },
        { nick: 'bot2', incidents: 7 },
        { nick: 'mallory', incidents: 3 },
        { nick: 'evelyn', incidents: 1 },
        { nick: 'eve', incidents: 1 },
        { nick: 'eve', incidents: 1 },
      ],
    ],
  });
  t.equal((await moderationCounts(sql, schema, at(200), true)).today, 34);
  t.equal((await moderationCounts(sql, schema, at(5_000), true)).today, 0);

  const listed = await moderationIncidents(sql, schema, 200, undefined);
  t.equal(listed.length, 38);
  t.same(listed.at(-1), {
    id: 1,
    nick: 'Mallory',
    channel: '#Lobby',
    score: 50,
    level: 'WARN',
    patterns: 'override',
    created_at: at(0).toISOString(),
  });
  const forPublic = await moderationIncidents(sql, schema, 200, []);
  t.equal(forPublic.length, 37, 'without those in task rooms');
  t.equal(
    (await moderationIncidents(sql, schema, 200, ['#lobby'])).length,
    0,
    'without those in hidden channels',
  );
  t.same(
    (await moderationIncidents(sql, schema, 2, undefined)).map(({ id }) => id),
    listed.slice(0, 2).map(({ id }) => id),
  );

  const mallory = await moderationReputation(sql, schema, 'MALLORY', undefined);
  t.same(mallory?.reputation, {
    nick: 'mallory',
    incident_count: 3,
    warn_count: 1,
    mute_count: 2,
    kick_count: 0,
    ban_count: 0,
    last_incident_at: at(136).toISOString(),
  });
  t.same(
    mallory?.recentIncidents.map(({ level }) => level),
    ['MUTE', 'MUTE', 'WARN'],
    'a pardoned one does not count',
  );
  t.match(
    (await moderationReputation(sql, schema, 'evelyn', undefined))?.reputation,
    { nick: 'eve', kick_count: 1 },
    'the account of that name, and not who took its nick',
  );
  t.match(
    (await moderationReputation(sql, schema, 'eve', undefined))?.reputation,
    { incident_count: 1, kick_count: 0 },
    'else the newest one under the nick',
  );
  t.equal(await moderationReputation(sql, schema, 'ann', undefined), undefined);

  const [record] = (await incidentRecords(sql, schema, 500, 6)).filter(({ level }) => level === 'BAN');
  t.match(record, {
    text: 'a \ufffd b',
    action: 'ban',
    outcome: 'done',
    until: at(62).toISOString(),
    lifted_at: at(135).toISOString(),
    pardoned_at: at(133).toISOString(),
    pardoned_by: 'ann',
  });
  t.equal((await incidentRecords(sql, schema, 500, 6)).length, 3, 'from before an id');
}

async function due(t: Test, sql: Sql, schema: string): Promise<void> {
  const refs = (rows: { ref: string }[]) => rows.map(({ ref }) => ref);
  const unanswered = await unansweredIncidents(sql, schema, 100);
  t.equal(unanswered.length, 12, 'neither those with an answer nor those that want none');
  t.same(refs(unanswered).slice(0, 2), ['line:4-0', 'line:6-0']);
  t.match(unanswered[0], { account: 'evelyn', action: 'kick', pardoned: false });
  t.same(await dueLifts(sql, schema, at(5)), { due: [], next: at(11) });
  const later = await dueLifts(sql, schema, at(12));
  t.same([refs(later.due), later.next], [['line:2-0'], at(146)]);
  t.same(refs((await dueLifts(sql, schema, at(200))).due), ['line:2-0', 'line:7-0']);
  const [first] = later.due;
  t.equal(await isOutlived(sql, schema, first!, at(140)), 'yes', 'another mute goes on under the same mask');
  t.equal(await isOutlived(sql, schema, first!, at(150)), 'no');
  const [open] = unanswered;
  const another = { ...open!, id: 0 };
  const asOf = (seconds: number) => new Date(open!.saidAt.getTime() + seconds * 1_000);
  t.equal(await isOutlived(sql, schema, another, asOf(1)), 'perhaps', 'one that is being done');
  t.equal(await isOutlived(sql, schema, another, asOf(600)), 'no', 'it will not be done any more');
  t.same(await masksInForce(sql, schema, casefold(first!.channel)), [first!.mask]);
  t.same(await masksInForce(sql, schema, '#elsewhere'), []);
}

import t from 'tap';
import { ircNetwork } from '../../projections/network/tables.js';
import { reputations } from '../../projections/reputation/tables.js';
import { type Call, inputOf, nobody } from '../../src/operations/core/call.js';
import type { AnyOperation } from '../../src/operations/core/operation.js';
import { getAgentProfile } from '../../src/operations/network/profile.js';
import { getReputation } from '../../src/operations/reputation/index.js';
import { OwnReadModel } from '../../src/stores/own-read-model.js';
import type { ReadModels } from '../../src/stores/read-models.js';
import { casefold, isPrivate } from '../../streams/irc-grammar.js';
import { expectedNetwork, networkHistory } from '../network/network-history.js';
import { openLog } from '../network/stage.js';
import { startNats } from '../support/nats.js';
import { callElsewhere, callHere } from '../support/operations.js';
import { eachSql } from '../support/sql.js';
import { feedbackHistory, judge } from './history.js';

const network = networkHistory(300);
const feedback = feedbackHistory(500);
const rooms = [...expectedNetwork(network).values()];
const now = new Date('2026-11-21T12:00:00Z');

/** What was said by a nick, in rooms that are not private or in all. */
function spoken(nick: string, withPrivate: boolean) {
  const open = rooms.filter(({ modes }) => withPrivate || !isPrivate(modes));
  const lines = open.flatMap(({ lines, privateLines, name }) =>
    lines
      .filter((line) => casefold(line.nick) === casefold(nick) && (withPrivate || !privateLines.has(line.id)))
      .map(({ time }) => ({ time, name })),
  );
  const times = lines.map(({ time }) => time).sort();
  const [first_seen = null] = times;
  return {
    channels: [...new Set(lines.map(({ name }) => name))].sort(),
    messages_count: lines.length,
    first_seen,
    last_active: times.at(-1) ?? now.toISOString(),
  };
}

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const schemas: Record<string, string> = { irc_network: 'network', reputation: 'reputation' };
  const readModels = {
    read: (name: string, query: (...args: unknown[]) => unknown) => query(sql, schemas[name]),
    recall: (name: string, _key: string, query: (...args: unknown[]) => unknown) => query(sql, schemas[name]),
  } as unknown as ReadModels;
  for (const [model, schema, facts] of [
    [ircNetwork, 'network', network],
    [reputations, 'reputation', feedback],
  ] as const) {
    await sql.query(`create schema ${schema}; ${model.ddl(schema)}`);
    await sql.transaction((tx) => model.apply(tx, [...facts], schema));
  }
  const log = await openLog(t, (await startNats(t)).url);
  const reputation = { rows: new OwnReadModel(readModels, 'reputation'), paidChannels: [] };
  const here = callHere({
    log,
    readModels,
    reputation,
    network: { recorder: async () => undefined, viewers: () => 0 },
  });
  const profileOf = async (asked: string, withPrivate = false, call = here) => {
    const { nick } = inputOf(getAgentProfile, { nick: asked });
    const caller = { ...nobody, is: withPrivate ? ('key' as const) : ('none' as const) };
    const profile = { reputationOf: (nick: string) => call(getReputation, { nick }, nobody) };
    return await getAgentProfile.run({ nick }, caller, { call, profile, now: () => now });
  };

  t.test('PROFILE-01 what a nick said where, and what it is thought of', async (t) => {
    for (const nick of ['alice', 'ALICE', 'carol{1}', 'Carol[1]', 'dave']) {
      const rated = judge(feedback, now).agents.find(({ name }) => name === casefold(nick));
      for (const withPrivate of [false, true]) {
        const { channels, ...said } = spoken(nick, withPrivate);
        const { channels_active, ...profile } = await profileOf(nick, withPrivate);
        t.same([...channels_active].sort(), channels, `${nick} ${withPrivate}`);
        t.same(profile, {
          nick,
          ...said,
          feedback_score: rated?.avg ?? null,
          feedback_count: rated?.total ?? 0,
        });
      }
    }
    t.not(spoken('alice', true).messages_count, spoken('alice', false).messages_count);
  });

  t.test('PROFILE-02 a nick of whom nothing is known', async (t) => {
    t.same(await profileOf('nobody'), {
      nick: 'nobody',
      channels_active: [],
      feedback_score: null,
      feedback_count: 0,
      messages_count: 0,
      first_seen: null,
      last_active: now.toISOString(),
    });
    await t.rejects(profileOf('no nick'), { code: 'validation_failed', status: 400 });
  });

  t.test('PROFILE-02 services that cannot be asked', async (t) => {
    const away = callElsewhere({ bridge: 'http://127.0.0.1:1' }, { timeoutMs: 1_000 });
    /** Calls operations here, but those of one service, which are called otherwise. */
    const but = (service: string, call: Call): Call =>
      ((operation: AnyOperation, ...asked: [never, never]) =>
        (operation.remote?.service === service ? call : here)(operation, ...asked)) as Call;
    const whole = await profileOf('carol[1]', true);
    t.ok(whole.messages_count > 0 && whole.feedback_count > 0);
    const { feedback_count, feedback_score, ...said } = whole;
    const withoutReputation = callElsewhere({ mrserv: 'http://127.0.0.1:1' }, { timeoutMs: 1_000 });
    t.same(await profileOf('carol[1]', true, but('mrserv', withoutReputation)), {
      ...said,
      feedback_score: null,
      feedback_count: 0,
    });
    t.same(await profileOf('carol[1]', true, but('bridge', away)), {
      nick: 'carol[1]',
      channels_active: [],
      feedback_score,
      feedback_count,
      messages_count: 0,
      first_seen: null,
      last_active: now.toISOString(),
    });
    const broken = (async () => Promise.reject(new TypeError('a bug'))) as Call;
    await t.rejects(profileOf('carol[1]', true, but('mrserv', broken)), TypeError, 'a bug is not hidden');
  });
});

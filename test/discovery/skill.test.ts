import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { createServer } from '../../src/http/server.js';
import '../support/contract.js';
import { readConfig } from '../../src/config/config.js';
import { catchUp } from '../../src/operations/network/catch-up.js';
import { listIrcMessages } from '../../src/operations/network/reads.js';
import { sayInChannel } from '../../src/operations/speech/lines.js';
import { Skill } from '../../src/pages/discovery/skill.js';
import { skillTerms } from '../../src/pages/discovery/skill-terms.js';
import { skillRoutes } from '../../src/pages/skill-routes.js';
import { turnMs } from '../../streams/floor/floor.js';
import { groupLimits, mostNamed } from '../../streams/groups/index.js';
import { judge, usualThresholds } from '../../streams/moderation/index.js';
import { irc } from '../../streams/network/index.js';
import { inbox } from '../../streams/speech/index.js';
import { webhookAnswerMs } from '../../workers/webhooks/index.js';

const publicUrl = 'https://api.relay.example';

async function skillServer(
  t: { teardown(fn: () => unknown): void },
  directory?: string,
  env: Record<string, string> = {},
) {
  const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
  await server.register(skillRoutes, {
    skill: new Skill({ publicUrl, terms: skillTerms(readConfig(env)), ...(directory ? { directory } : {}) }),
  });
  t.teardown(() => server.close());
  return (path: string) => server.inject(path);
}

t.test('SKILL-01 the version, from the manifest', async (t) => {
  const get = await skillServer(t);
  const answer = await get('/skill/version');
  t.equal(answer.statusCode, 200);
  const manifest = JSON.parse(readFileSync('skill/manifest.json', 'utf8'));
  t.same(answer.json(), {
    version: manifest.version,
    released: manifest.released,
    files: manifest.files,
    changelog: `${publicUrl}/skill/CHANGELOG.md`,
    install_url: `${publicUrl}/skill.md`,
  });
  for (const file of ['SKILL.md', 'MESSAGING.md', 'HEARTBEAT.md', 'ETIQUETTE.md', 'CHANGELOG.md'])
    t.ok(manifest.files.includes(file), file);
  const files = readdirSync('skill').filter((name) => name !== 'manifest.json');
  t.same(files.sort(), [...manifest.files].sort(), 'what is there is in the manifest');
});

t.test('SKILL-02 the skill and its files, with the address of this service in them', async (t) => {
  const get = await skillServer(t);
  const { files, version } = (await get('/skill/version')).json();
  const main = await get('/skill.md');
  t.match(main.headers['content-type'], 'text/markdown');
  t.equal(main.body, (await get('/skill/SKILL.md')).body);
  t.match(
    main.body,
    new RegExp(`^---\nname: relay-network\nversion: ${version}\n`),
    'it says its own version',
  );
  t.match((await get('/skill/CHANGELOG.md')).body, `## ${version}`);
  for (const file of files) {
    const answer = await get(`/skill/${file}`);
    t.equal(answer.statusCode, 200, file);
    t.ok(answer.body.length > 100, file);
    t.notMatch(answer.body, /\{base_url\}|\{\w+_\w+\}|localhost/, file);
    t.match(answer.headers, { etag: String, 'cache-control': 'public, max-age=3600' });
    for (const [, name] of answer.body.matchAll(/https:\/\/api\.relay\.example\/skill\/([A-Z_]+\.md)/g))
      t.ok(files.includes(name), `${file} -> ${name}`);
  }
  for (const path of ['/skill/manifest.json', '/skill/OTHER.md', '/skill/..%2Fpackage.json', '/skill/'])
    t.equal((await get(path)).statusCode, 404, path);
});

t.test('SKILL-03 without its manifest it is unavailable for now', async (t) => {
  const broken = {
    absent: {},
    'not JSON': { 'manifest.json': '{' },
    incomplete: { 'manifest.json': '{"version": "1.0.0"}' },
    'with a path in it': {
      'manifest.json': '{"version":"1.0.0","released":"2026-01-01T00:00:00Z","files":["../secret.md"]}',
    },
  };
  const dir = t.testdir(broken);
  for (const what of Object.keys(broken)) {
    const get = await skillServer(t, join(dir, what));
    for (const path of ['/skill/version', '/skill.md', '/skill/SKILL.md']) {
      const answer = await get(path);
      t.equal(answer.statusCode, 503, `${what} ${path}`);
      t.match(answer.json(), { code: 'skill_unavailable' });
      t.ok(answer.headers['retry-after']);
    }
  }
});

t.test('SKILL-04 the ladder of moderation is the one that runs', async (t) => {
  const text = async (file: string, env = {}) => {
    const get = await skillServer(t, undefined, env);
    return (await get(`/skill/${file}`)).body.replace(/\s+/g, ' ');
  };
  const usual = await text('ETIQUETTE.md');
  for (const row of [
    '| 20 | it is noted |',
    '| 40 | a warning |',
    '| 60 | a mute of 10 minutes in the channel |',
    '| 80 | a kick out of the channel |',
    '| 95 | a ban of an hour, twice as long for each ban of the last 30 days |',
  ])
    t.ok(usual.includes(row), row);
  t.match(usual, 'It gets a mute at most, or a kick where it was encoded or is about money.');
  t.match(usual, 'A second one within 10 minutes may be a kick, and a third one within 24 hours a ban.');
  t.match(usual, 'adds 10 points to the next, 50 at most.');
  t.match(usual, 'are warned after 6 lines and muted after 8, for 10 minutes.');
  t.match(usual, 'Where 6 lines came within 750 ms, they are muted without a warning.');
  t.match(usual, '/msg channelserv APPEAL <number> <reason>');
  t.notMatch(usual, /first warned|not scored/);
  const other = await text('ETIQUETTE.md', {
    GUARDIAN_THRESHOLDS: '10,30,50,70,101',
    GUARDIAN_LOOP_MINUTES: '0',
    GUARDIAN_IGNORE_CHANNELS: '#lab',
    CHANNELSERV_NICK: 'warden',
  });
  t.match(other, /\| 50 \| a mute .*\| 70 \| a kick/);
  t.notMatch(other, /\| 101|a ban of an hour|muted after/, 'what cannot happen is not told');
  t.match(other, 'Lines in `#lab` are not scored.');
  t.match(other, '/msg warden APPEAL');
});

t.test('SKILL-04 a judgement is what the ladder says', async (t) => {
  const score = (points: number, more = {}) => ({
    score: points,
    patterns: [],
    encoded: false,
    money: false,
    talk: false,
    ...more,
  });
  const level = (points: number, earlierMinutes: number[] = [], more = {}) =>
    judge(
      score(points, more),
      earlierMinutes.map((minutes) => ({ at: -minutes * 60_000 })),
      0,
      usualThresholds,
    )?.level;
  t.equal(level(100), 'MUTE', 'a first line is a mute at most');
  t.equal(level(100, [], { encoded: true }), 'KICK', 'a first line that was encoded');
  t.equal(level(79, [], { money: true }), 'MUTE');
  t.equal(level(70, [9]), 'KICK', 'a second one in ten minutes, with ten points more');
  t.equal(level(70, [11]), 'MUTE');
  t.equal(level(80, [11, 23 * 60]), 'BAN', 'a third one in a day');
});

t.test('SKILL-05 addresses, bots and services are those of the settings', async (t) => {
  const texts = async (env: Record<string, string>) => {
    const get = await skillServer(t, undefined, env);
    const files = ['SKILL.md', 'MESSAGING.md', 'ETIQUETTE.md'];
    const all = await Promise.all(files.map(async (file) => (await get(`/skill/${file}`)).body));
    return all.join('\n').replace(/\s+/g, ' ');
  };
  const own = await texts({ IRC_EMBEDDED_PORT: '7777', NICK_REGISTER_AFTER_SECONDS: '5' });
  t.match(own, 'to `irc://127.0.0.1:7777`.');
  t.match(own, '`/msg NickServ REGISTER <password>`, from 5 seconds after you connected on.');
  t.match(own, 'tell `mrserv`, the identity bot, `LINK 0x...`');
  const bots = { BRIDGE_NICK: 'bee', EM_NICK: 'ant', MRSERV_NICK: 'owl', CHANNELSERV_NICK: 'fox' };
  const other = await texts({ ...bots, IRC_URL: 'irc://inside:6667', GUARDIAN_WITHHOLD: 'false' });
  t.match(other, "to the network's address (ask the operator).");
  t.match(other, "the network's nick service (usually `NickServ`)");
  t.match(other, 'Send `/claim a1b2c3d4` to `ant`');
  t.match(other, 'The bot `bee` names them in one line');
  t.match(other, 'The bots are `bee` (records, groups, floor), `ant` (tasks), `owl`');
  t.notMatch(other, /6667|`em-bot`|`relay`|`mrserv`|`channelserv`|inside/);
  t.match(own, /So is a line on IRC that somebody was kicked or banned for/);
  t.notMatch(own, 'reaches you as they wrote it');
  t.match(other, 'What others write on IRC reaches you as they wrote it.', 'where nothing is withheld');
});

t.test('SKILL-06 the limits that it names are those of the code', async (t) => {
  const get = await skillServer(t);
  const files = ['SKILL.md', 'MESSAGING.md', 'ETIQUETTE.md', 'HEARTBEAT.md'];
  const all = await Promise.all(files.map(async (file) => (await get(`/skill/${file}`)).body));
  const texts = all.join('\n').replace(/\s+/g, ' ');
  const minutes = (ms: number) => ({ 1: 'one', 2: 'two', 5: 'five', 10: 'ten' })[ms / 60_000];
  const days = (ms: number) => ms / 86_400_000;

  const takes = (bytes: number) =>
    sayInChannel.input.safeParse({ channel: 'lobby', text: 'x'.repeat(bytes) }).success;
  t.same([takes(340), takes(341)], [true, false]);
  t.match(texts, 'One line has at most 340 bytes.');
  const reads = (limit: number) => listIrcMessages.input.safeParse({ channel: 'lobby', limit }).success;
  t.same([0, 1, 100, 101].map(reads), [false, true, true, false]);
  t.match(texts, '`limit` is 1 to 100.');
  const usual = listIrcMessages.input.parse({ channel: 'lobby' }).limit;
  t.match(texts, `as long as you get ${usual} lines, ask again`);
  t.match(
    texts,
    `It answers in ${catchUp.input.parse({}).tokens.toLocaleString('en')} tokens what you missed.`,
  );

  t.equal(days(inbox.maxAgeMs), 1);
  t.match(texts, `the last ${inbox.mostOfSubject} of a day.`);
  t.match(texts, `are kept for ${days(irc.maxAgeMs)} days.`);
  t.match(texts, `answer 2xx within ${webhookAnswerMs / 1_000} seconds.`);

  const { sameGroupMs, ofPerson, addressedMs } = groupLimits;
  t.equal(sameGroupMs, 60_000);
  t.match(
    texts,
    `It works once a minute for each group, and for five lines of yours in ${minutes(ofPerson.withinMs)} minutes.`,
  );
  t.equal(ofPerson.most, 5);
  t.match(texts, `cannot address a group for ${minutes(addressedMs)} minutes.`);
  t.match(texts, `names them in one line, ${mostNamed} at most.`);
  t.match(
    texts,
    `It lapses after ${minutes(turnMs.silence)} minutes without a line of yours, and after ${minutes(turnMs.most)} minutes in any case.`,
  );

  // the server asks, and asks again after the same time: it is silent for twice that at most
  const config = readFileSync('src/servers/inspircd-config.ts', 'utf8');
  const [, seconds] = /<connect name="public"[^>]* pingfreq="(\d+)"/.exec(config)!;
  t.equal(2 * Number(seconds), 180);
  t.match(texts, 'or you are gone within three minutes.');
});

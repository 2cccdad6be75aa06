import type { Test } from 'tap';
import { skills } from '../../src/a2a/skills.js';
import { type FeedbackGiven, reputation } from '../../streams/reputation/index.js';
import { environmentOf, untilKept } from '../channels/stage.js';
import { keysStage, operator } from '../keys/stage.js';
import { attack, type ShownIncident } from '../moderation/stage.js';
import { judge } from '../reputation/history.js';
import { postEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';

/** The result of a crowd of strangers with liars among them. */
export interface CrowdOutcome {
  /** Nicks with feedback, best first: those that the service shows, and all of them as the facts have them. */
  shown: string[];
  ranked: string[];
  liars: string[];
  /** How many ratings by liars were accepted, and refused. */
  ratings: { taken: number; refused: number };
  /** Titles of incidents by their status. */
  accusations: string[];
  honest: string[];
  /** How many votes by liars were accepted, and the codes of the refused ones. */
  votes: { taken: number; refused: Record<string, number> };
  /** Answers to liars that contain the secret of the private room. */
  leaks: string[];
  reads: number;
  /** Strangers who cannot speak any more, and where. */
  silenced: string[];
  /** Incidents by their action: those of liars, and those of strangers whose nick nobody else used. */
  incidents: Record<string, number>;
  blamed: ShownIncident[];
  seconds: Record<string, number>;
}

const secret = 'Opal-7731';
const hall = ['#lobby', '#payments', '#disputes'];
const refused = (lines: string[]) => lines.some((line) => / 40[34] | 442 | 474 /.test(line));
/** An address of this machine that nobody else has. */
const hostOf = (net: number, n: number) => `127.${net}.${Math.floor(n / 250)}.${1 + (n % 250)}`;

/** Does something for each, eight in parallel. */
async function forEach<T>(all: readonly T[], work: (one: T, n: number) => Promise<unknown>): Promise<void> {
  const waiting = all.entries();
  const hand = async () => {
    for (const [n, one] of waiting) await work(one, n);
  };
  await Promise.all(Array.from({ length: 8 }, hand));
}

/**
 * Strangers meet in rooms, talk, work for each other and rate those they met. Liars among them rate each
 * other, report innocents and vote on it, and listen at doors. They speak attacks under changing nicks and
 * under those of others, and accuse. All of it goes through the service, its log, its read models and a
 * network. The test judges the result.
 */
export async function crowd(t: Test, size: { strangers: number; liars: number }): Promise<CrowdOutcome> {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const stage = await keysStage(
    t,
    {
      ...environmentOf({ nats, ircd }),
      ROLES: 'all',
      RATE_LIMIT: '0',
      KEY_RATE_LIMIT: '0',
      NICK_RATE_LIMIT: '0',
      CHANNEL_CREATIONS_PER_HOUR: '0',
      // liars are patient: their links are as old as they must be
      VOTE_LINK_AGE_HOURS: '0',
    },
    nats,
  );
  const { ask, given, proven, signed, tool, app } = stage;
  await untilKept(app.url);
  const seconds: Record<string, number> = {};
  let began = performance.now();
  const done = (what: string) => {
    seconds[what] = Math.round((performance.now() - began) / 100) / 10;
    began = performance.now();
  };
  const comes = async (nick: string, host: string): Promise<Observer> => {
    const one = await observe(ircd.port, { nick, host, password: ircd.serverPassword, reconnect: false });
    t.teardown(() => one.stop());
    return one;
  };

  // rooms, and who comes into them
  const rooms = Array.from({ length: Math.ceil(size.strangers / 10) }, (_, n) => `#meet-${n}`);
  await forEach(rooms, async (name) => {
    const { status } = await ask('POST', '/channels', { name, type: 'special', modes: '+nt' }, operator);
    if (status !== 201) throw new Error(`no room ${name}: ${status}`);
  });
  const recorded = async () => {
    const { body } = await ask('GET', '/irc/channels');
    return [...rooms, ...hall].every((room) => body.some(({ name }: { name: string }) => name === room));
  };
  await eventually('all rooms to be recorded', recorded, 120_000);
  done('rooms');
  const roomsOf = (n: number) => [...new Set([rooms[n % rooms.length]!, rooms[(n * 7 + 3) % rooms.length]!])];
  const strangers = Array.from({ length: size.strangers }, (_, n) => `stray${n}`);
  const people = new Map<string, Observer>();
  const keys = new Map<string, Record<string, string>>();
  let spoken = 0;
  await forEach(strangers, async (nick, n) => {
    const one = await comes(nick, hostOf(20, n));
    people.set(nick, one);
    await one.join(...roomsOf(n));
    await one.ask(...roomsOf(n).map((room) => `PRIVMSG ${room} :Good day, I am ${nick} and look for work`));
    spoken += roomsOf(n).length;
    keys.set(nick, (await given(nick, ['read', 'rate', 'report', 'vote'])).headers);
  });
  // liars have what a stranger can get alone: a proven wallet, and a key of it
  const liars = Array.from({ length: size.liars }, (_, n) => `mallory${n}`);
  const wallets = new Map<string, Awaited<ReturnType<typeof proven>>>();
  await forEach(liars, async (nick, n) => {
    const one = await comes(nick, hostOf(30, n));
    people.set(nick, one);
    await one.join(...hall);
    await one.ask(...hall.map((room) => `PRIVMSG ${room} :Good day from ${nick}`));
    spoken += hall.length;
    const wallet = await proven(nick);
    wallets.set(nick, wallet);
    const { status, body } = await signed(wallet, 'POST', '/auth/keys', {});
    if (status !== 201) throw new Error(`no key for ${nick}: ${status}`);
    keys.set(nick, { 'x-api-key': body.key });
  });
  await eventually(
    'all of it to be read',
    async () => (await ask('GET', '/irc/stats', undefined, operator)).body.messages >= spoken,
    120_000,
  );
  done('coming');

  // paid work, which two of three strangers have done
  await forEach(
    strangers.filter((_, n) => n % 3 > 0),
    async (worker, n) => {
      const publisher_nick = strangers[(strangers.indexOf(worker) + 1) % strangers.length];
      const payload = {
        id: 'paid0001-1',
        score: 4 + (n % 2),
        comment: 'Done',
        publisher_nick,
        worker_nick: worker,
      };
      const event = { event_id: `paid-${n}`, event_type: 'rating.created', source: 'marketplace', payload };
      const { status } = await postEvent(app.url, event);
      if (status !== 202) throw new Error(`no rating of ${worker}: ${status}`);
    },
  );
  const paid = strangers.filter((_, n) => n % 3 > 0).at(-1)!;
  await eventually(
    'the marketplace’s ratings',
    async () => (await ask('GET', `/reputation/${paid}`)).body.totalFeedback > 0,
    120_000,
  );
  // strangers rate those they met
  const rate = async (from: string, feedback: object): Promise<boolean> =>
    !(await tool('svc_give_feedback', feedback, keys.get(from)!)).result.isError;
  await forEach(strangers, async (from, n) => {
    for (let step = 1; step <= 5; step++) {
      const other = (n + step * rooms.length) % strangers.length;
      if (other === n) continue;
      const rating = 3 + ((n + step) % 3);
      const channel = rooms[n % rooms.length];
      if (!(await rate(from, { nick: strangers[other], channel, rating })))
        throw new Error(`${from} may not rate ${strangers[other]}, whom it met in ${channel}`);
    }
  });
  done('strangers rate');

  // liars praise each other, themselves, and nicks that they invent
  const ratings = { taken: 0, refused: 0 };
  await forEach(liars, async (from, n) => {
    const wanted = [
      ...liars.flatMap((nick) => hall.map((channel) => ({ nick, channel, rating: 5 }))),
      { nick: `ghost${n}`, channel: '#lobby', rating: 5 },
      { nick: from, channel: '#lobby', rating: 5, from_nick: `ghost${n}` },
      { nick: from, channel: '#lobby', rating: 5, from_nick: strangers[n] },
      // and rate others down, who are unknown to them
      { nick: strangers[n], channel: rooms[n % rooms.length], rating: 1 },
    ];
    for (const feedback of wanted) ratings[(await rate(from, feedback)) ? 'taken' : 'refused']++;
  });
  done('liars rate');

  // they report innocents, and vote together
  const titles = new Map<string, string>();
  const report = async (nick: string, about: string): Promise<string> => {
    const title = `${about} steals keys`;
    const incident = { title, severity: 'SEV-1', affected: [about] };
    const { status, body } = await ask('POST', '/sentinel/incidents', incident, keys.get(nick));
    if (status !== 201) throw new Error(`no report by ${nick}: ${status}`);
    titles.set(body.id, title);
    return body.id;
  };
  const votes: CrowdOutcome['votes'] = { taken: 0, refused: {} };
  const count = ({ status, body }: Awaited<ReturnType<typeof ask>>) => {
    if (status === 200) votes.taken++;
    else votes.refused[body.code] = (votes.refused[body.code] ?? 0) + 1;
  };
  const accused: string[] = [];
  for (const liar of liars.slice(0, 5)) {
    const id = await report(liar, strangers[liars.indexOf(liar)]!);
    accused.push(id);
    const path = `/sentinel/incidents/${id}/vote`;
    for (const nick of liars) {
      count(await ask('POST', path, { score: 100 }, keys.get(nick)));
      count(await ask('POST', path, { score: 100, voterNick: `ghost${accused.length}` }, keys.get(nick)));
    }
    // in person as well, after it has taken another nick
    const wallet = wallets.get(liar)!;
    count(await signed(wallet, 'POST', path, { voterNick: liar, score: 100 }));
    count(await signed(wallet, 'POST', path, { voterNick: `ghost${accused.length}`, score: 100 }));
  }
  const truth = await report(strangers[0]!, liars[0]!);
  for (const nick of strangers.slice(1, 5))
    await ask('POST', `/sentinel/incidents/${truth}/vote`, { score: 90 }, keys.get(nick));
  const { body: all } = await ask('GET', '/sentinel/incidents?status=validated&limit=100');
  const validated = (all.incidents as { id: string }[]).map(({ id }) => id);
  done('reports');

  // a room that does not concern them
  const [worker] = strangers as [string];
  const room = '#task-secret01';
  const task = { id: 'secret01-1', title: secret, worker_nick: worker };
  await postEvent(app.url, {
    event_id: 'secret',
    event_type: 'task.assigned',
    source: 'marketplace',
    payload: task,
  });
  const inside = people.get(worker)!;
  await inside.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
  inside.send(`PRIVMSG ${room} :The code of the gate is ${secret}`);
  const path = `/irc/channels/${room.slice(1)}/messages`;
  await eventually('the secret to be recorded', async () =>
    JSON.stringify((await ask('GET', path, undefined, operator)).body).includes('The code of the gate'),
  );
  const heard: string[] = [];
  const listeners = new AbortController();
  t.teardown(() => listeners.abort());
  await forEach(liars, async (nick) => {
    const one = people.get(nick)!;
    heard.push(
      ...(await one.ask(
        ...['JOIN', 'NAMES', 'WHO', 'TOPIC', 'MODE'].map((word) => `${word} ${room}`),
        ...['LIST', `INVITE ${nick} ${room}`, `PRIVMSG ${room} :let me in`, `WHOIS ${worker}`],
      )),
    );
    for (const headers of [undefined, keys.get(nick)]) {
      for (const one of [
        ...[path, `/channels/${room.slice(1)}`, `/channels/${room.slice(1)}/operations`],
        ...['/channels?private=true', '/irc/channels', `/agents`, '/guardian/incidents', '/guardian/stats'],
        ...[
          `/reputation/${worker}/feedback`,
          '/ops/audit',
          '/ops/events',
          '/ops/dead-letters',
          '/hooks/em/stats',
        ],
      ])
        heard.push(JSON.stringify((await ask('GET', one, undefined, headers)).body));
      const stream = await fetch(`${app.url}/irc/stream?channel=${room.slice(1)}&after=0-0`, {
        ...(headers ? { headers } : {}),
        signal: AbortSignal.any([listeners.signal, AbortSignal.timeout(2_000)]),
      });
      heard.push(await stream.text().catch(() => 'a stream without an end'));
    }
    for (const [name, args] of [
      ['svc_get_messages', { channel: room.slice(1) }],
      ['svc_list_channels', {}],
      ['svc_get_channel_score', { channel: room }],
      ['svc_get_agent_profile', { nick: worker }],
    ] as const)
      heard.push(JSON.stringify(await tool(name, args, keys.get(nick)!)));
    for (const { id } of nick === liars[0] ? skills : []) {
      const parts = [{ kind: 'data', data: { skill: id, channel: room.slice(1), nick: worker } }];
      const params = { message: { kind: 'message', messageId: `${nick}-${id}`, role: 'user', parts } };
      const asked = { jsonrpc: '2.0', id: 1, method: 'message/send', params };
      heard.push(JSON.stringify((await ask('POST', '/a2a/v1', asked)).body));
    }
  });
  done('listening');

  // attacks under changing nicks, under the nick of somebody who is away, and in the mouths of others
  const worn = strangers.filter((_, n) => n > 0 && n % 20 === 0).slice(0, liars.length);
  await forEach(liars, async (_, n) => {
    const target = rooms[n % rooms.length]!;
    const shade = await comes(`shade${n}`, hostOf(31, n));
    await shade.join(target);
    for (let turn = 1; turn <= 4; turn++)
      await shade.ask(
        `PRIVMSG ${target} :${attack} ${turn}`,
        `PRIVMSG ${target} :${strangers[n + 1]} is a thief, ban ${strangers[n + 1]} at once`,
        `PRIVMSG ${target} :<${strangers[n + 2]}> ${attack}`,
        `NICK shade${n}x${turn}`,
      );
    const owner = worn[n];
    if (owner === undefined) return;
    await people.get(owner)!.stop();
    const mask = await comes(owner, hostOf(32, n));
    const at = strangers.indexOf(owner);
    await mask.join(...roomsOf(at));
    await mask.ask(...roomsOf(at).map((room) => `PRIVMSG ${room} :${attack} I say so.`));
    await mask.stop();
    const back = await comes(owner, hostOf(20, at));
    people.set(owner, back);
    await back.join(...roomsOf(at));
  });
  const ofAll = async () =>
    (await ask('GET', '/ops/incidents?limit=500', undefined, operator)).body.incidents as ShownIncident[];
  const settled = await eventually(
    'all incidents to be dealt with',
    async () => {
      const incidents = await ofAll();
      const dealt = incidents.every(({ action, outcome }) => action === 'none' || outcome !== null);
      return (
        dealt && incidents.filter(({ nick }) => nick.startsWith('shade')).length >= liars.length && incidents
      );
    },
    120_000,
  );
  done('attacks');
  const silenced: string[] = [];
  await forEach(strangers, async (nick, n) => {
    for (const room of roomsOf(n))
      if (refused(await people.get(nick)!.ask(`PRIVMSG ${room} :I am still here`)))
        silenced.push(`${nick} in ${room}`);
  });
  for (const nick of liars) heard.push(...people.get(nick)!.raw);

  const facts: Parameters<typeof judge>[0] = [];
  for await (const fact of stage.log.subject(reputation, 'reputation.>'))
    if (fact.type === 'feedback.given') facts.push(fact as (typeof facts)[number] & FeedbackGiven);
  const { body: board } = await ask('GET', '/leaderboard/agents?limit=50');
  const ranked = judge(facts, new Date()).agents.filter(({ total }) => total > 0);
  done('judging');
  const incidents: Record<string, number> = {};
  for (const { action } of settled) incidents[action] = (incidents[action] ?? 0) + 1;
  const isInnocent = (nick: string) => nick.startsWith('stray') && !worn.includes(nick);
  return {
    liars,
    ratings,
    votes,
    silenced,
    incidents,
    seconds,
    shown: board.agents.map(({ nick }: { nick: string }) => nick),
    ranked: ranked.map(({ name }) => name),
    accusations: validated.filter((id) => accused.includes(id)).map((id) => titles.get(id)!),
    honest: validated.filter((id) => !accused.includes(id)).map((id) => titles.get(id)!),
    leaks: heard.filter((text) => text.includes(secret) || text.includes('gate')),
    reads: heard.length,
    blamed: settled.filter(({ nick, action }) => isInnocent(nick) && action !== 'none'),
  };
}

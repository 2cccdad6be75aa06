import { setTimeout as delay } from 'node:timers/promises';
import { type LinkedIrcds, serverNames } from '../../support/linked-ircd.js';
import type { Teardown } from '../../support/server-process.js';
import { World } from '../world.js';
import { type Actor, type Actors, capabilities, play, RealActor } from './compare.js';
import { IrcNetwork } from './network.js';
import type { Step } from './scripts.js';

/** Clients on two servers, and the link between these. */
export interface Linked {
  actors: Actors;
  split(): Promise<void>;
  relink(): Promise<void>;
  /** For so many milliseconds what one server tells the other is on its way, while `during` runs. */
  delayed(ms: number, during: () => Promise<void>): Promise<void>;
  /** Milliseconds since 1970, by the servers' clock. */
  now(): number;
}

/** Who takes part: `a` and `b` on the near server, `f` on the far one. */
const people = { a: ['Bot', 'near'], b: ['alice', 'near'], f: ['frank', 'far'] } as const;

/** Plays a script in which `link` is split and joined again. */
export async function playLinked(linked: Linked, steps: readonly Step[]): Promise<string[]> {
  const told: string[] = [];
  for (const client of Object.values(linked.actors)) client.take();
  for (const step of steps) {
    if (step[0] === 'link') {
      await (step[1] === 'split' ? linked.split() : linked.relink());
      told.push(`link ${step[1]}`, ...(await play(linked.actors, [], true)));
    } else told.push(...(await play(linked.actors, [step], true)));
  }
  for (const client of Object.values(linked.actors)) await client.send('QUIT');
  return told;
}

/** How many milliseconds after a line was said far away, which came late, the near server's history says that it was. */
export async function delayInHistory({ actors, delayed, now }: Linked, lateMs: number): Promise<number> {
  const { a, b, f } = actors as Record<'a' | 'b' | 'f', Actor>;
  await a.send('JOIN #late');
  await a.send('MODE #late +H 9:1d');
  await f.send('JOIN #late');
  await a.send('MODE #late');
  let said = 0;
  await delayed(lateMs, async () => {
    said = now();
    await f.send('PRIVMSG #late :a moment');
  });
  b.take();
  await b.send('JOIN #late');
  const shown = b.take().find((line) => line.endsWith(' PRIVMSG #late :a moment')) ?? '';
  return Date.parse(/time=([^; ]+)/.exec(shown)?.[1] ?? '') - said;
}

export async function simulatedLinked(): Promise<Linked> {
  const world = new World(1);
  const network = new IrcNetwork(world, { servers: 2 });
  const persons = Object.entries(people).map(
    ([name, [nick, side]]) =>
      [name, network.person(nick, { capabilities, server: side === 'near' ? 0 : 1 })] as const,
  );
  await world.until(() => persons.every(([, person]) => person.isThere), 5_000);
  const settle = () => world.pass(1_000);
  await settle();
  return {
    actors: Object.fromEntries(
      persons.map(([name, person]) => [
        name,
        {
          send: async (line: string) => {
            person.send(line);
            await settle();
          },
          take: () => person.heard.splice(0).map(({ raw }) => raw),
          end: () => person.quit(),
        },
      ]),
    ),
    split: async () => {
      network.split(0, 1);
      await settle();
    },
    relink: async () => {
      network.relink(0, 1);
      await settle();
    },
    delayed: async (ms, during) => {
      const usual = { ...network.latency };
      Object.assign(network.latency, { least: ms, most: ms });
      await during();
      Object.assign(network.latency, usual);
      await world.pass(ms);
    },
    now: () => world.now,
  };
}

export async function realLinked(t: Teardown, linked: LinkedIrcds): Promise<Linked> {
  const clients = Object.entries(people).map(([name, [nick, side]]) => {
    return [name, new RealActor(linked[side], { nick, isModern: true }, otherOf(name))] as const;
  });
  const all = clients.map(([, client]) => client);
  await Promise.all(all.map((client) => client.until((line) => / 376 /.test(line))));
  for (const client of all) t.teardown(() => client.end());
  for (const client of all) client.others = all;
  const settle = async () => {
    for (const client of all) await client.send('PONG x');
  };
  const parted = () => {
    for (const client of all) client.linked = undefined;
  };
  const joined = async () => {
    for (const [name, client] of clients) client.linked = otherOf(name);
    await settle();
  };
  return {
    actors: Object.fromEntries(clients),
    split: async () => {
      await delay(1_100); // what is made from now on is younger, by the second
      await linked.split();
      parted();
      await settle();
    },
    relink: async () => {
      await linked.relink();
      await delay(50); // both ends of a burst are told of by one server after the other
      await joined();
    },
    delayed: async (ms, during) => {
      linked.link.freeze();
      parted();
      await during();
      await delay(ms);
      linked.link.thaw();
      await joined();
    },
    now: () => Date.now(),
  };
}

/** The server that a client is not connected to. */
const otherOf = (name: string): string => serverNames[name === 'f' ? 'near' : 'far'];

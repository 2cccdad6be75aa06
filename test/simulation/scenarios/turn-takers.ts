import { casefold } from '../../../streams/irc-grammar.js';
import type { IrcNetwork } from '../irc/network.js';
import type { Heard, Person } from '../irc/person.js';
import type { Random } from '../random.js';

/** From one host more come than one person may have places. */
const hosts = {
  ann: 'ann.example',
  bob: 'bob.example',
  ...{ cas: 'crowd.example', dan: 'crowd.example', eve: 'crowd.example', fay: 'crowd.example' },
};
const nicks = Object.keys(hosts) as (keyof typeof hosts)[];
const commands = [
  ...['', '', '', '', '', '', 'done', 'done', 'done', 'status', 'status', 'next', 'next'],
  ...['open', 'open who knows it?', 'close', 'nonsense'],
];

/** People who take turns in channels. */
export class TurnTakers {
  readonly #network: IrcNetwork;
  readonly #channels: readonly string[];
  readonly #hears: (heard: Heard) => void;
  readonly #people = new Map<string, Person>();
  #said = 0;

  /** `hears` is called with each line that one of them is shown. */
  constructor(network: IrcNetwork, channels: readonly string[], hears: (heard: Heard) => void) {
    this.#network = network;
    this.#channels = channels;
    this.#hears = hears;
  }

  /** Who has a nick (casefolded) now. */
  called(nick: string | undefined): Person | undefined {
    return [...this.#people.values()].find(({ client }) => casefold(client.user?.nick ?? '') === nick);
  }

  anybody(): Person | undefined {
    return [...this.#people.values()].find(({ isThere }) => isThere);
  }

  quit(): void {
    for (const person of this.#people.values()) person.quit();
  }

  /** Somebody takes part in one way or another; those who are away come. */
  act(random: Random): void {
    const nick = random.pick(nicks);
    const channel = random.pick(this.#channels);
    const person = this.#people.get(nick);
    if (!person || person.client.closed) {
      this.#enter(nick);
      return;
    }
    if (!person.isThere) return;
    const act = random.int(0, 99);
    if (act < 50) this.#ask(random, person, channel);
    else if (act < 65) this.#say(random, person, channel);
    else if (act < 71) person.send(`PART ${channel} :later`);
    else if (act < 79)
      person.send(`NICK ${random.pick([nick, nick.toUpperCase(), `${nick}[${random.int(1, 3)}]`])}`);
    else if (act < 84) this.#network.kick(person.client.user!.nick, channel);
    else if (act < 88) person.quit();
    else if (act < 92) person.identify(random.pick([nick, 'crowd', undefined]));
    else this.#promote(random.pick(['+', '+', '-']), person, channel);
  }

  #enter(nick: keyof typeof hosts): void {
    const server = nicks.indexOf(nick) % this.#network.servers.length;
    if (!this.#network.isUp(server)) return;
    this.#people.set(nick, this.#network.person(nick, { server, host: hosts[nick], hears: this.#hears }));
  }

  #ask(random: Random, person: Person, channel: string): void {
    person.join(channel);
    for (let n = random.chance(0.1) ? 2 : 1; n > 0; n--)
      person.say(channel, `${random.pick(['/floor', '!floor', '/Floor'])} ${random.pick(commands)}`.trim());
  }

  #say(random: Random, person: Person, channel: string): void {
    person.join(channel);
    const kind = random.int(0, 9);
    if (kind === 0) person.send(`NOTICE ${channel} :/floor`);
    else if (kind === 1) person.say(channel, '\x01ACTION /floor\x01');
    else person.say(channel, `how is the weather today ${++this.#said}`);
  }

  #promote(sign: '+' | '-', person: Person, channel: string): void {
    const server = this.#network.servers[0]!;
    const { id, nick } = person.client.user!;
    const user = server.user(nick);
    const there = server.channel(channel);
    if (!user || !there?.members.has(user)) return;
    const changes = [{ sign, letter: 'o', value: nick, user: id }];
    server.happen({ is: 'mode', by: { server: server.name }, channel, changes, at: server.now });
    server.flush();
  }
}

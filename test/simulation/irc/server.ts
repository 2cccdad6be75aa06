import { casefold } from '../../../streams/irc-grammar.js';
import type { World } from '../world.js';
import { Client, type Sink, type Tags } from './client.js';
import { commands } from './commands/index.js';
import { welcome } from './commands/registration.js';
import { effects } from './effects/index.js';
import type { Fact, Source } from './facts.js';
import { firstChannels, type ServerKind } from './kinds.js';
import { type Arrived, Channel, maskOf, type User } from './state.js';

/** What a server is told about itself and those that come to it. */
export interface ServerOptions {
  world: World;
  name: string;
  /** Three characters, the first of the ids of its users and messages. */
  id: string;
  kind: ServerKind;
  oper: { name: string; password: string };
  /** The password of the bots; clients with another one are throttled. */
  password: string;
  /** The password of the gateway, which says from where those come that it brings. */
  gatewayPassword: string;
  /** Nicks that only operators may take for themselves. */
  reservedNicks: readonly string[];
  /** Milliseconds that each line beyond the tenth costs clients without the password. */
  publicCostMs?: number;
  /** Tells the other servers of the network. */
  spread(fact: Fact): void;
  /** A user of another server is to do something. */
  force(fact: Fact & { is: 'forced' }, home: string): void;
  /** This server has shown a channel a line, by a user of its own or of another one. */
  shown?(server: Server, channel: Channel, message: Arrived, isItsOwn: boolean): void;
  linked(): boolean;
  /**
   * Whether, this time, others see the batch of an answer with their line, as InspIRCd sometimes shows it.
   */
  leaks(): boolean;
}

const registrationMs = 20_000;
const pingEveryMs = 30_000;
const saveEveryMs = 5_000;

/** One server of a simulated network: what it knows, what it answers, and who is told what happens. */
export class Server {
  readonly options: ServerOptions;
  readonly world: World;
  readonly name: string;
  readonly kind: ServerKind;
  readonly capabilities: Set<string>;
  readonly clients = new Set<Client>();
  readonly users = new Map<string, User>();
  readonly nicks = new Map<string, User>();
  readonly channels = new Map<string, Channel>();
  /** Nicks that it refuses for now, and with which numeric. */
  readonly refusedNicks = new Map<string, string>();
  startedAt: number;
  #messages = 0;
  #users = 0;
  /** Whose line is being worked on. */
  #asking: Client | undefined;
  #written = new Set<Client>();
  /** Channels that outlive a crash, as they were last saved. */
  readonly #saved = new Map<string, Channel>();

  constructor(options: ServerOptions) {
    this.options = options;
    this.world = options.world;
    this.name = options.name;
    this.kind = options.kind;
    this.capabilities = new Set(options.kind.capabilities);
    this.startedAt = options.world.now;
    if (this.kind.forces) this.#makeFirstChannels();
  }

  #makeFirstChannels(): void {
    for (const [name, modes, text] of firstChannels) {
      const channel = new Channel(name, this.second);
      for (const letter of modes) channel.modes.set(letter, letter === 'H' ? '100:1d' : undefined);
      channel.topic = { text, by: this.name, at: this.now };
      this.channels.set(casefold(name), channel);
    }
  }

  get now(): number {
    return this.world.now;
  }

  /** The beginning of this second: ages of nicks and channels are told apart by no less. */
  get second(): number {
    return Math.floor(this.now / 1_000) * 1_000;
  }

  user(nick: string): User | undefined {
    return this.nicks.get(casefold(nick));
  }

  channel(name: string): Channel | undefined {
    return this.channels.get(casefold(name));
  }

  newMessageId(): string {
    return `${this.options.id}~${Math.floor(this.startedAt / 1_000)}~${this.#messages++}`;
  }

  /** Somebody connects. */
  accept(sink: Sink, host = '127.0.0.1'): Client {
    const client = new Client(this, sink, host);
    this.clients.add(client);
    client.plan(registrationMs, () => {
      if (!client.user) this.close(client, 'Registration timeout');
    });
    return client;
  }

  /** The other end of a client's connection is gone. */
  left(client: Client, reason: string): void {
    if (client.closed) return;
    const { user } = client;
    this.drop(client);
    if (user) this.happen({ is: 'quit', user: user.id, reason });
    this.flush();
  }

  /** Closes a client's connection, with a reason. */
  close(client: Client, reason: string): void {
    if (client.closed) return;
    const { user } = client;
    client.send('', {}, 'ERROR', `Closing link: (${client.ident ?? client.id}@${client.host}) [${reason}]`);
    this.drop(client);
    if (user) this.happen({ is: 'quit', user: user.id, reason });
    this.flush();
  }

  /** The whole server is gone: users, and channels but those that were saved. `clean` saves them first. */
  stop(clean: boolean): void {
    for (const client of [...this.clients]) {
      if (clean) client.send('', {}, 'ERROR', 'Closing link: Server shutdown');
      this.drop(client);
    }
    if (clean) for (const channel of this.channels.values()) this.#save(channel);
    else this.#saveOld();
    this.users.clear();
    this.nicks.clear();
    this.channels.clear();
    this.refusedNicks.clear();
  }

  /** It is back, with the channels that were saved and nobody in them. */
  start(): void {
    this.startedAt = this.now;
    this.#messages = 0;
    for (const saved of this.#saved.values()) {
      if (!saved.modes.has('P')) continue;
      const channel = new Channel(saved.name, this.second);
      for (const [letter, value] of saved.modes) channel.modes.set(letter, value);
      channel.bans = [...saved.bans];
      channel.excepts = [...saved.excepts];
      channel.topic = saved.topic;
      this.channels.set(casefold(saved.name), channel);
    }
  }

  /** One line of a client. */
  execute(client: Client, line: string): void {
    const { tags, command, parameters } = parsed(line);
    const run = commands[command];
    const label = tags.find((tag) => tag.startsWith('label='))?.slice(6);
    const isLabelled = label !== undefined && client.has('labeled-response') && client.has('batch');
    if (isLabelled && client.swallow[0]?.isDone === false) {
      client.swallow.shift();
      return;
    }
    if (isLabelled) client.beginAnswer(label);
    this.#asking = client;
    if (!client.user && !(run && beforeRegistration.has(command))) {
      client.numeric('451', command, 'You have not registered.');
    } else if (!run) client.numeric('421', command, 'Unknown command');
    else run({ server: this, client, user: client.user!, parameters, tags, command });
    this.#asking = undefined;
    if (isLabelled && !client.closed) client.endAnswer();
    for (const other of this.clients) other.endOthersBatch();
  }

  /** Whether the answer to somebody has a batch by now. */
  get hasOpenBatch(): boolean {
    return this.#asking?.isBatched === true;
  }

  /** Whether a client is shown a line inside the batch of somebody else's answer, which has the same line. */
  leaks(client: Client, body: string): boolean {
    const asking = this.#asking;
    const isPart =
      asking !== undefined && asking !== client && asking.isBatched && asking.isAnsweredWith(body);
    return isPart && client.has('batch') && client.has('labeled-response') && this.options.leaks();
  }

  /** Registers a client that has told what has to be told, when the clock comes to it. */
  consider(client: Client): void {
    if (client.user || client.nick === undefined || client.ident === undefined || client.negotiating) return;
    const every = this.kind.registersEveryMs;
    const wait = every === 0 ? 0 : every - ((this.now - this.startedAt) % every);
    client.plan(wait, () => {
      if (client.user || client.nick === undefined || client.ident === undefined || client.negotiating)
        return;
      this.#register(client, client.nick, client.ident);
      this.flush();
    });
  }

  #register(client: Client, nick: string, ident: string): void {
    if (this.user(nick)) return void client.numeric('433', nick, 'Nickname is already in use.');
    if (client.password !== this.options.password) client.costMs = this.options.publicCostMs ?? 0;
    const user = {
      id: client.id,
      nick,
      ident,
      host: client.host,
      real: client.real,
      account: undefined,
      modes: new Set<string>(),
      away: undefined,
      nickSince: this.second,
      since: this.now,
      home: this.name,
    };
    this.happen({ is: 'user', user });
    client.user = this.users.get(client.id)!;
    client.user.client = client;
    welcome({ server: this, client, user: client.user, parameters: [], tags: [], command: 'WELCOME' });
    this.#keepAlive(client);
  }

  /** A client that is not registered loses its nick to a client that asks for it. */
  overrule(nick: string, by: Client | undefined): void {
    for (const client of this.clients) {
      if (client.user || client === by || client.nick === undefined) continue;
      if (casefold(client.nick) !== casefold(nick)) continue;
      client.send(`${client.nick}!${client.ident ?? client.id}@${client.host}`, {}, 'NICK', client.id);
      client.numeric('433', client.nick, 'Nickname overruled.');
      client.nick = undefined;
    }
  }

  /** An id that nobody else on the network has. */
  newId(): string {
    return `${this.options.id}${(++this.#users).toString(36).padStart(6, 'A').toUpperCase()}`;
  }

  /** Asks clients that are silent whether they are there. */
  #keepAlive(client: Client): void {
    client.plan(pingEveryMs, () => {
      if (this.now - client.heardAt >= 2 * pingEveryMs - 1) {
        this.close(client, `Ping timeout: ${pingEveryMs / 1_000} seconds`);
        return;
      }
      if (this.now - client.heardAt >= pingEveryMs - 1) client.send('', {}, 'PING', this.name);
      this.#keepAlive(client);
      this.flush();
    });
  }

  /** Something happens here: it is noted, and told to clients and to the other servers. */
  happen(fact: Fact): void {
    this.apply(fact);
    this.options.spread(fact);
  }

  /** Takes note of something, and tells the clients of this server that it concerns. */
  apply(fact: Fact): void {
    (effects[fact.is] as (server: Server, fact: Fact) => void)(this, fact);
  }

  /** A line that a user is the origin of. */
  tell(client: Client, from: User, command: string, ...parameters: string[]): void {
    client.send(maskOf(from), tagsOf(from), command, ...parameters);
  }

  /** A line from a user or a server, for everybody in a channel. */
  tellOfChange(channel: Channel, by: Source, command: string, ...parameters: string[]): void {
    const { from, tags } = this.sourceOf(by);
    for (const { client } of channel.members.keys()) client?.send(from, tags, command, ...parameters);
  }

  nickOf(by: Source): string {
    return 'server' in by ? by.server : (this.users.get(by.user)?.nick ?? this.name);
  }

  /** The source of a line that somebody's action causes. */
  sourceOf(by: Source): { from: string; tags: Tags } {
    const user = 'user' in by ? this.users.get(by.user) : undefined;
    return user ? { from: maskOf(user), tags: tagsOf(user) } : { from: this.nickOf(by), tags: {} };
  }

  /** Brings a user of this server into a channel, whatever would keep them out. */
  join(user: User, name: string): void {
    const channel = this.channel(name);
    const isNew = channel === undefined;
    this.happen({
      is: 'join',
      user: user.id,
      channel: channel?.name ?? name,
      since: channel?.since ?? this.second,
      status: isNew && this.kind.makesOperators ? 'o' : '',
      made: isNew ? this.kind.newChannel : '',
    });
  }

  /** Clients that share a channel with a user, without the user's own. */
  acquaintances(user: User): Set<Client> {
    const clients = new Set<Client>();
    for (const channel of user.channels)
      for (const { client } of channel.members.keys()) if (client) clients.add(client);
    if (user.client) clients.delete(user.client);
    return clients;
  }

  tellWatchers(numeric: '730' | '731', nick: string): void {
    const key = casefold(nick);
    for (const client of this.clients) if (client.watched.has(key)) client.numeric(numeric, nick);
  }

  leave(user: User, channel: Channel): void {
    channel.members.delete(user);
    user.channels.delete(channel);
    this.dropIfEmpty(channel);
  }

  /** A channel without members is gone, unless it is permanent. */
  dropIfEmpty(channel: Channel): void {
    if (channel.members.size > 0 || channel.modes.has('P')) return;
    this.channels.delete(casefold(channel.name));
    this.#saved.delete(casefold(channel.name));
  }

  remove(user: User): void {
    for (const channel of [...user.channels]) this.leave(user, channel);
    for (const channel of this.channels.values()) channel.invited.delete(user);
    this.users.delete(user.id);
    if (this.nicks.get(casefold(user.nick)) === user) this.nicks.delete(casefold(user.nick));
  }

  drop(client: Client): void {
    if (client.user) client.user.client = undefined;
    client.end();
    this.clients.delete(client);
    this.#written.delete(client);
  }

  /** Does something with a user, if the server knows them. */
  with(id: string, work: (user: User) => void): void {
    const user = this.users.get(id);
    if (user) work(user);
  }

  /** Does something with a user in a channel, if they are in it. */
  within(id: string, name: string, work: (user: User, channel: Channel) => void): void {
    const user = this.users.get(id);
    const channel = this.channel(name);
    if (user && channel?.members.has(user)) work(user, channel);
  }

  /** A channel is about to change: what was saved of it is what it was at the last save. */
  touch(channel: Channel): void {
    const lastSave = this.now - ((this.now - this.startedAt) % saveEveryMs);
    if (channel.touchedAt <= lastSave) this.#save(channel);
    channel.touchedAt = this.now;
  }

  #saveOld(): void {
    for (const channel of this.channels.values()) this.touch(channel);
  }

  #save(channel: Channel): void {
    const copy = new Channel(channel.name, channel.since);
    for (const [letter, value] of channel.modes) copy.modes.set(letter, value);
    copy.bans = [...channel.bans];
    copy.excepts = [...channel.excepts];
    copy.topic = channel.topic;
    this.#saved.set(casefold(channel.name), copy);
  }

  /** A client has something to be given. */
  wrote(client: Client): void {
    this.#written.add(client);
  }

  /** Gives clients what was written for them. */
  flush(): void {
    for (const client of this.#written) if (!client.isAnswering) client.flush();
    this.#written.clear();
  }
}

const beforeRegistration = new Set(['CAP', 'PASS', 'NICK', 'USER', 'QUIT', 'WEBIRC']);

/** Tags of a line that comes of what a user does. */
export const tagsOf = ({ account, modes }: User): Tags => ({ account, isBot: modes.has('B') });

/** A line of a client, in its parts. */
export function parsed(line: string): { tags: string[]; command: string; parameters: string[] } {
  let rest = line;
  let tags: string[] = [];
  if (rest.startsWith('@')) {
    const end = rest.indexOf(' ');
    tags = rest.slice(1, end === -1 ? undefined : end).split(';');
    rest = end === -1 ? '' : rest.slice(end + 1).trimStart();
  }
  const parameters: string[] = [];
  while (rest !== '') {
    if (rest.startsWith(':') && parameters.length > 0) {
      parameters.push(rest.slice(1));
      break;
    }
    const end = rest.indexOf(' ');
    parameters.push(end === -1 ? rest : rest.slice(0, end));
    rest = end === -1 ? '' : rest.slice(end + 1).trimStart();
  }
  return { tags, command: (parameters.shift() ?? '').toUpperCase(), parameters };
}

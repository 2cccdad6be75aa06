import { connect } from 'node:net';
import type { TestIrcd } from '../../support/ircd.js';
import type { Teardown } from '../../support/server-process.js';
import { World } from '../world.js';
import { IrcNetwork } from './network.js';
import type { Person } from './person.js';
import { actors, type Step } from './scripts.js';
import { parsed } from './server.js';

/** What the product asks a server for. */
export const capabilities = [
  ...['cap-notify', 'batch', 'message-tags', 'account-tag', 'server-time', 'invite-notify', 'multi-prefix'],
  ...['userhost-in-names', 'echo-message', 'labeled-response', 'away-notify'],
];

/** A client of a script, of whatever network. */
export interface Actor {
  /** Sends a line, and waits for all its effects and for what everybody was shown meanwhile. */
  send(line: string): Promise<void>;
  /** What came since it was asked the last time. */
  take(): string[];
  end(): void;
}

export type Actors = Record<string, Actor>;

/** Plays a script. Answers, for each of its steps, what each client was shown, without what nobody reads. */
export async function play(clients: Actors, steps: readonly Step[], isGoingOn = false): Promise<string[]> {
  const told: string[] = [];
  const take = () => {
    for (const [who, client] of Object.entries(clients))
      told.push(...normal(client.take()).map((text) => `  ${who} < ${text}`));
  };
  if (!isGoingOn) for (const client of Object.values(clients)) client.take();
  if (isGoingOn && steps.length === 0) take();
  for (const [number, [name, line]] of steps.entries()) {
    const label = `@label=l${number}${line.startsWith('+') ? ';' : ' '}`;
    await clients[name]!.send(name === 'a' || name === 'b' ? `${label}${line}` : line);
    told.push(`${name} > ${line}`);
    take();
  }
  return told;
}

const nobodyReads = new Set([
  '351',
  '372',
  '375',
  '004',
  '253',
  '265',
  '329',
  '333',
  '378',
  '379',
  '008',
  '002',
  '003',
]);
/** Numerics whose text nobody reads: only the number and the parameters before the text count. */
const texts = /^(?:[45]\d\d|69[678]|331|30[156]|31[2378]|33[05]|219|351|221|25[25]|366|368|381|NOTICE)$/;

/** Lines without what differs from run to run, and what nobody reads. */
function normal(lines: readonly string[]): string[] {
  const strange = new Set<string>();
  const shown = lines.flatMap((line) => {
    const { tags, rest } = untagged(line);
    // InspIRCd also shows the batch of an answer to others who see the same line, depending on the order of
    // members
    const [, sign, batch = ''] = / BATCH :?([+-])(\w+)/.exec(rest) ?? [];
    if (sign === '+' && rest.endsWith('labeled-response') && !tags.some((tag) => tag.startsWith('label='))) {
      strange.add(batch);
      return [];
    }
    if (sign === '-' && strange.delete(batch)) return [];
    for (const reference of strange)
      if (tags.includes(`batch=${reference}`)) tags.splice(tags.indexOf(`batch=${reference}`), 1);
    const from = rest.startsWith(':') ? rest.slice(1, rest.indexOf(' ')) : '';
    const { command, parameters } = parsed(from === '' ? rest : rest.slice(from.length + 2));
    if (nobodyReads.has(command) || command === 'PING') return [];
    if (command === 'NOTICE' && /^\*\*\* (?:REMOTE)?LINK/.test(parameters[1] ?? ''))
      return /end of netburst/i.test(parameters[1]!) ? ['END OF NETBURST'] : [];
    const named = parameters.map((text) =>
      text.replaceAll('irc.relay.internal', 'SERVER').replace(/1RN[A-Z0-9]{6}/, 'ID'),
    );
    if (texts.test(command)) named[named.length - 1] = 'TEXT';
    if (command === '353') named[named.length - 1] = named.at(-1)!.trim().split(' ').sort().join(' ');
    if (command === '319') named[named.length - 1] = named.at(-1)!.trim().split(' ').sort().join(' ');
    if (command === '317') return [];
    if (command === '242') named[1] = named[1]!.replace(/\d\d:\d\d:\d\d/, 'TIME');
    if (command === '367' || command === '348') named[named.length - 1] = 'TIME';
    if (command === '251') named[1] = named[1]!.replace(/and \d+ invisible/, '');
    if (command === '266') named[1] = named[1]!.replace(/Max.*/, '');
    // the letters of a server's own mode change have no fixed order
    if (command === 'MODE' && !from.includes('!')) named[1] = [...(named[1] ?? '')].sort().join('');
    const who = from.includes('!') || !from.includes('.') ? from : 'SERVER';
    return [
      `${tags.join(';')} ${who.replace(/1RN[A-Z0-9]{6}/, 'ID')} ${command} ${named.join(' | ')}`.trim(),
    ];
  });
  // a watcher of a nick is told before or after all others
  const isWatch = (text: string) => / 73[01] /.test(text);
  return [...sortedRuns(shown.filter((text) => !isWatch(text))), ...shown.filter(isWatch)];
}

/** The rows of a list have the server's own order, and so do the users who leave with a server. */
function sortedRuns(lines: readonly string[]): string[] {
  const sorted = [...lines];
  for (let from = 0; from < sorted.length; from++) {
    let to = from;
    while (to < sorted.length && / (?:322|QUIT) /.test(sorted[to]!)) to += 1;
    if (to - from > 1) sorted.splice(from, to - from, ...sorted.slice(from, to).sort());
    from = Math.max(from, to - 1);
  }
  return sorted;
}

function untagged(line: string): { tags: string[]; rest: string } {
  if (!line.startsWith('@')) return { tags: [], rest: line };
  const end = line.indexOf(' ');
  const tags = line
    .slice(1, end)
    .split(';')
    .map((tag) => tag.replace(/^(time|msgid)=.*$/, '$1'))
    .sort();
  return { tags, rest: line.slice(end + 1) };
}

/** Clients that are not registered, by the names of their steps. */
const newcomers = ['n', 'm'] as const;

/** The clients of a script on a simulated network; with newcomers if it is about registering. */
export async function simulatedActors(isRegistering = false): Promise<Actors> {
  const world = new World(1);
  const network = new IrcNetwork(world, { reservedNicks: ['kept-bot'] });
  const people = Object.entries(actors).map(([name, nick]): [string, Person] => [
    name,
    network.person(nick, name === 'o' ? {} : { capabilities }),
  ]);
  await world.until(() => people.every(([, person]) => person.isThere), 5_000);
  if (isRegistering) for (const name of newcomers) people.push([name, network.person('', { isBare: true })]);
  return Object.fromEntries(
    people.map(([name, person]) => [
      name,
      {
        send: async (line: string) => {
          person.send(line);
          if (line === registered) await world.until(() => person.isThere, 5_000);
        },
        take: () => person.heard.splice(0).map(({ raw }) => raw),
        end: () => person.quit(),
      },
    ]),
  );
}

/** The last line before a client is registered. */
const registered = 'CAP END';

/** The clients of a script on a real server. */
export async function realActors(t: Teardown, ircd: TestIrcd, isRegistering = false): Promise<Actors> {
  const clients: [string, RealActor][] = Object.entries(actors).map(([name, nick]) => [
    name,
    new RealActor(ircd, { nick, isModern: name !== 'o' }),
  ]);
  await Promise.all(clients.map(([, client]) => client.until((line) => / 376 /.test(line))));
  if (isRegistering) for (const name of newcomers) clients.push([name, new RealActor(ircd)]);
  const all = clients.map(([, client]) => client);
  for (const client of all) t.teardown(() => client.end());
  for (const client of all) client.others = all;
  return Object.fromEntries(clients);
}

/** A client of a script on a real server. */
export class RealActor implements Actor {
  others: RealActor[] = [];
  #lines: string[] = [];
  #rest = '';
  #isGone = false;
  #tokens = 0;
  #check = () => {};
  readonly #socket;

  /** Registers, if it is told under which nick. */
  constructor(
    ircd: TestIrcd,
    who?: { nick: string; isModern: boolean },
    /** A server that it is linked with, if it is. */
    public linked?: string | undefined,
  ) {
    this.#socket = connect({ host: '127.0.0.1', port: ircd.port, noDelay: true });
    this.#socket.setEncoding('utf8');
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.#isGone = true;
      this.#check();
    });
    this.#socket.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\r\n');
      this.#rest = lines.pop()!;
      this.#lines.push(...lines);
      this.#check();
    });
    if (!who) return;
    const { nick, isModern } = who;
    if (isModern) this.#write('CAP LS 302', `CAP REQ :${capabilities.join(' ')}`);
    this.#write(`PASS ${ircd.serverPassword}`, `NICK ${nick}`, `USER ${nick} 0 * :${nick}`);
    if (isModern) this.#write('CAP END');
  }

  /**
   * The server has processed a line when it answers the next one. Others have got their share when it answers
   * them.
   */
  async send(line: string): Promise<void> {
    this.#write(line);
    if (line === registered) await this.until((line) => / 376 /.test(line));
    await this.#barrier();
    if (this.linked !== undefined) await this.#farBarrier(this.linked);
    await Promise.all(this.others.map((other) => other.#barrier()));
  }

  /** The other server answers when it has processed what it was told before. Otherwise it does not exist. */
  async #farBarrier(server: string): Promise<void> {
    const isAnswer = (line: string) => / (?:391|402) /.test(line);
    this.#write(`TIME ${server}`);
    await this.until(isAnswer);
    this.#lines = this.#lines.filter((line) => !isAnswer(line));
  }

  /** An unknown command is answered at any time. */
  async #barrier(): Promise<void> {
    const token = `barrier${++this.#tokens}`;
    const isAnswer = (line: string) => line.includes(` ${token} :`);
    this.#write(`CAP ${token}`);
    await this.until(isAnswer);
    this.#lines = this.#lines.filter((line) => !isAnswer(line));
  }

  async until(found: (line: string) => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#check = () => {
        if (this.#isGone || this.#lines.some(found)) resolve();
      };
      this.#check();
    });
    this.#check = () => {};
  }

  take(): string[] {
    return this.#lines.splice(0);
  }

  end(): void {
    this.#socket.destroy();
  }

  #write(...lines: string[]): void {
    if (!this.#isGone) this.#socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }
}

import { casefold } from '../../../streams/irc-grammar.js';
import type { IrcNetwork } from './network.js';
import type { Heard, Person } from './person.js';

const nick = 'NickServ';
const backWithinMs = 1_000;

/** A nick service, which knows since when accounts are registered. It is there whenever its network is up. */
export class NickService {
  readonly #network: IrcNetwork;
  readonly #since = new Map<string, number>();
  #person: Person | undefined;

  constructor(network: IrcNetwork) {
    this.#network = network;
  }

  /** Is there from now on, and soon after the network was away, as long as somebody `isNeeded`. */
  attend(after: (ms: number, act: () => void) => void, isNeeded: () => boolean): void {
    if (!isNeeded()) {
      this.#person?.quit();
      return;
    }
    if ((!this.#person || this.#person.client.closed) && this.#network.isUp())
      this.#person = this.#network.person(nick, { hears: (heard) => this.#hear(heard) });
    after(backWithinMs, () => this.attend(after, isNeeded));
  }

  /** Has an account registered, at a time in milliseconds since 1970, unless it is. */
  register(account: string, at: number): void {
    const key = casefold(account);
    if (!this.#since.has(key)) this.#since.set(key, at);
  }

  /** When an account was registered, in milliseconds since 1970. */
  registeredAt(account: string): number | undefined {
    return this.#since.get(casefold(account));
  }

  #hear({ from, command, parameters: [to = '', text = ''] }: Heard): void {
    if (command !== 'PRIVMSG' || casefold(to) !== casefold(nick)) return;
    const [asked = '', about = ''] = text.split(' ');
    const answer = (line: string) => this.#person?.send(`NOTICE ${from.split('!', 1)[0]} :${line}`);
    const since = this.registeredAt(about);
    if (asked === 'STATUS') answer(`STATUS ${about} ${this.#statusOf(about)}`);
    else if (asked === 'INFO' && since === undefined) answer(`Nick \x02${about}\x02 isn't registered.`);
    else if (asked === 'INFO') {
      answer(`\x02${about}\x02 is ${about}`);
      answer(`   Registered: ${new Date(since!).toUTCString()}`);
    }
  }

  /** 0: not registered, 1: not identified, 3: identified. */
  #statusOf(about: string): number {
    if (!this.#since.has(casefold(about))) return 0;
    const account = this.#network.servers[0]!.user(about)?.account;
    return account !== undefined && casefold(account) === casefold(about) ? 3 : 1;
  }
}

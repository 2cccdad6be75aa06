import { casefold } from '../../../streams/irc-grammar.js';
import type { Server } from '../irc/server.js';

/** A channel from some time on, as a server has it. */
export interface RoomState {
  /** Milliseconds since 1970. */
  at: number;
  /** Casefolded nicks. */
  members: ReadonlySet<string>;
  /** Whether a bot can speak there: it is in, and nothing keeps it silent; `away` while it is not on the network. */
  bot: 'speaks' | 'silent' | 'out' | 'away';
}

/** Who was in the channels of a server at each moment. */
export class RoomStates {
  readonly #server: Server;
  readonly #bot: string;
  readonly #states = new Map<string, RoomState[]>();

  constructor(server: Server, channels: readonly string[], bot: string) {
    this.#server = server;
    this.#bot = bot;
    for (const channel of channels) this.#states.set(channel, []);
    const apply = server.apply.bind(server);
    const stop = server.stop.bind(server);
    server.apply = (fact) => {
      apply(fact);
      if (fact.is !== 'message' && fact.is !== 'away') this.#look();
    };
    server.stop = (clean) => {
      stop(clean);
      this.#look();
    };
    this.#look();
  }

  /** Those that a channel was in at some moment between two times, both included. */
  during(channel: string, from: number, to: number): RoomState[] {
    const states = this.#states.get(channel)!;
    return states.filter(({ at }, index) => {
      const end = states[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      return at <= to && end >= from;
    });
  }

  /** Whether somebody removed the bot, or kept it from speaking, at some moment while it was on the network. */
  wasHindered(channel: string, from: number, to: number): boolean {
    const states = this.during(channel, from, to);
    return states.some(({ bot }, index) => {
      const before = states[index - 1]?.bot;
      return bot === 'silent' || (bot === 'out' && (before === 'speaks' || before === 'silent'));
    });
  }

  #look(): void {
    const { now } = this.#server;
    const user = this.#server.user(this.#bot);
    for (const [channel, states] of this.#states) {
      const room = this.#server.channel(channel);
      const members = new Set([...(room?.members.keys() ?? [])].map(({ nick }) => casefold(nick)));
      const status = user && room?.members.get(user);
      const isSilent = status?.size === 0 && room!.modes.has('m');
      const bot = !user ? 'away' : !status ? 'out' : isSilent ? 'silent' : 'speaks';
      const last = states.at(-1);
      const isSame = last?.bot === bot && last.members.size === members.size;
      if (!isSame || [...members].some((nick) => !last.members.has(nick)))
        states.push({ at: now, members, bot });
    }
  }
}

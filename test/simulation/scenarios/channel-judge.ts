import type { Config } from '../../../src/config/config.js';
import {
  type ChannelFact,
  type ChannelState,
  channelDecider,
  modeFlags,
} from '../../../streams/channels/index.js';
import { casefold, isNick } from '../../../streams/irc-grammar.js';
import type { IrcNetwork } from '../irc/network.js';
import type { SimulatedLogServer } from '../log/server.js';
import type { Stage } from '../scenario.js';

/** What came of a command: an answer, a refusal by its code, or that nobody knows. */
type Outcome = { is: 'answered' } | { is: 'refused'; code: string } | { is: 'unknown'; code: string };

interface StoredFact {
  cause: string | null;
  type: ChannelFact['type'];
  data: ChannelFact['data'];
}

/** A command waits for a connection, and then for its answer. */
const answerMs = 13_000;
/** Settings that nobody but the service gives to a channel. */
const ours = 'imspkl';

/** What was asked of the channel bot, what is recorded of it, and what the network shows. */
export class ChannelJudge {
  readonly #stage: Stage;
  readonly #server: SimulatedLogServer;
  readonly #network: IrcNetwork;
  readonly #config: Config;
  readonly #outcomes = new Map<string, { what: string; name: string; outcome: Outcome }>();
  readonly #facts: StoredFact[] = [];
  readonly #states = new Map<string, ChannelState>();
  readonly #unwatched = new Set<string>();
  #readUpTo = 0;

  constructor(stage: Stage, server: SimulatedLogServer, network: IrcNetwork, config: Config) {
    this.#stage = stage;
    this.#server = server;
    this.#network = network;
    this.#config = config;
  }

  /** Somebody is in a channel while no bot of ours is on the network: masks that they set there may be a moderator's. */
  unwatched(channel: string): void {
    this.#unwatched.add(channel);
  }

  /** Sees to what comes of a command. */
  async watch(id: string, what: string, name: string, run: () => Promise<unknown>): Promise<void> {
    const stage = this.#stage;
    const begun = stage.world.elapsed;
    let outcome: Outcome = { is: 'answered' };
    try {
      await run();
    } catch (error) {
      const { kind, code = '' } = error as { kind?: string; code?: string };
      const isExpected = (kind === 'refusal' && code !== 'internal_error') || kind === 'unavailable';
      stage.check('commands fail in known ways', isExpected, () => `${what}: ${(error as Error).stack}`);
      outcome = kind === 'refusal' ? { is: 'refused', code } : { is: 'unknown', code };
    }
    const ms = stage.world.elapsed - begun;
    stage.check('commands are answered in time', ms < answerMs, () => `${what}: ${ms} ms`);
    stage.count(`${what}: ${outcome.is === 'answered' ? 'done' : outcome.code}`);
    stage.world.tell('caller', `${id}, ${what} ${name}: ${JSON.stringify(outcome)}`);
    this.#outcomes.set(id, { what, name, outcome });
  }

  /** Whether such a command was answered. */
  hasDone(what: string, name: string): boolean {
    const isIt = (one: { what: string; name: string; outcome: Outcome }) =>
      one.what === what && one.name === name && one.outcome.is === 'answered';
    return [...this.#outcomes.values()].some(isIt);
  }

  isDone(id: string): boolean {
    return this.#outcomes.get(id)?.outcome.is === 'answered';
  }

  /** Whether the network has the channels as they are recorded, with those in them that were waited for. */
  isSo(awaited: readonly string[]): boolean {
    return this.#differences(awaited).length === 0;
  }

  whatIsNotSo(awaited: readonly string[]): string {
    return this.#differences(awaited).join('; ');
  }

  /** What is recorded agrees with what was answered. */
  judge(): void {
    this.#read();
    const stage = this.#stage;
    const byCause = new Map<string, StoredFact[]>();
    for (const fact of this.#facts)
      if (fact.cause) byCause.set(fact.cause, [...(byCause.get(fact.cause) ?? []), fact]);
    for (const [id, { what, name, outcome }] of this.#outcomes) {
      const facts = (byCause.get(id) ?? []).map(({ type }) => type).join(', ');
      const found = () => `${id}, ${what} ${name}: ${JSON.stringify(outcome)}, ${facts}`;
      if (outcome.is === 'answered' && what === 'create')
        stage.check('what was answered is recorded', facts === 'channel.created', found);
      if (outcome.is === 'refused') {
        // a channel that the network refuses is taken back
        const isNothing = facts === '' || facts === 'channel.created, channel.deleted';
        stage.check('what was refused left no trace', isNothing, found);
      }
    }
    this.#judgeLimits(byCause);
  }

  #judgeLimits(byCause: ReadonlyMap<string, StoredFact[]>): void {
    const of = (type: ChannelFact['type']) =>
      [...byCause.values()].filter((facts) => facts.length === 1 && facts[0]!.type === type).length;
    const { CHANNEL_CREATIONS_PER_HOUR: creations, CHANNEL_DELETIONS_PER_HOUR: deletions } = this.#config;
    for (const [type, most, beside] of [
      // the last one is not asked for by a caller
      ['channel.created', creations, 1],
      ['channel.deleted', deletions, 0],
    ] as const)
      this.#stage.check(
        'hourly limits hold',
        of(type) <= most + beside,
        () => `${type}: ${of(type)} of ${most}`,
      );
  }

  #read(): void {
    const stream = this.#server.streams.get('CHANNELS')?.stream;
    for (; stream && this.#readUpTo < stream.lastSeq; this.#readUpTo++) {
      const message = stream.get(this.#readUpTo + 1);
      if (!message) continue;
      const fact = JSON.parse(new TextDecoder().decode(message.data)) as StoredFact;
      this.#facts.push(fact);
      const state = this.#states.get(fact.data.name) ?? channelDecider.initial();
      this.#states.set(fact.data.name, state);
      const isThere = state.status === 'active' || state.status === 'archived';
      const isFree = fact.type === 'channel.created';
      this.#stage.check('no channel is made twice', isThere !== isFree, () => JSON.stringify(fact));
      channelDecider.evolve(state, fact as never);
    }
  }

  #differences(awaited: readonly string[]): string[] {
    this.#read();
    const wrong: string[] = [];
    const server = this.#network.servers[0]!;
    for (const [name, state] of this.#states) {
      const channel = server.channel(name);
      if (state.status === 'deleted') {
        if (channel?.modes.has('P')) wrong.push(`${name} is there and was deleted`);
        continue;
      }
      if (!channel) {
        wrong.push(`${name} is missing`);
        continue;
      }
      const wanted = modeFlags(state.modes);
      wanted.set('P', undefined).set('H', '100:1d');
      for (const [flag, value] of wanted)
        if (!channel.modes.has(flag) || channel.modes.get(flag) !== value)
          wrong.push(`${name} lacks +${flag}`);
      for (const flag of channel.modes.keys())
        if (ours.includes(flag) && !wanted.has(flag)) wrong.push(`${name} has +${flag}`);
      if ((channel.topic?.text ?? '') !== state.topic) wrong.push(`${name}: topic ${channel.topic?.text}`);
      const members = new Map([...channel.members].map(([{ nick }, status]) => [casefold(nick), status]));
      const isInvited = (nick: string) => state.invited.some((one) => casefold(one) === nick);
      const bots = [this.#config.CHANNELSERV_NICK, ...[this.#config.EM_NICK].filter(isInvited)];
      for (const nick of bots) if (!members.has(nick)) wrong.push(`${name}: ${nick} is not in it`);
      const ourBots = [this.#config.CHANNELSERV_NICK, this.#config.EM_NICK, this.#config.BRIDGE_NICK].map(
        casefold,
      );
      for (const [nick, status] of members)
        if (status.has('o') && !ourBots.includes(nick)) wrong.push(`${name}: ${nick} is its operator`);
      // what keeps our bots out of bans that may be moderation's stays when these turn out to be nobody's
      const isOurs = (mask: string) =>
        ourBots.some((nick) => [`${nick}!*@*`, `m:${nick}!*@*`].includes(casefold(mask)));
      const excepts = [...channel.excepts].filter(({ mask }) => !isOurs(mask));
      const masks = [...channel.bans, ...excepts].filter(
        ({ by }) => !this.#unwatched.has(name) || !isNick(by),
      );
      for (const { mask, by } of masks) wrong.push(`${name}: ${by} has set ${mask}`);
      const em = members.get(this.#config.EM_NICK);
      if (wanted.has('m') && em?.size === 0) wrong.push(`${name}: ${this.#config.EM_NICK} has no voice`);
      if (state.status === 'archived') continue;
      for (const nick of awaited.filter(isInvited))
        if (!members.has(nick)) wrong.push(`${name}: ${nick} was not brought in`);
    }
    return wrong;
  }
}

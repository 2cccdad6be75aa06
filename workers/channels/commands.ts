import {
  type ChannelCommand,
  type ChannelState,
  channelDecider,
  channels,
} from '../../streams/channels/index.js';
import { type Origin, Refusal, Unavailable } from '../../streams/core/index.js';
import type { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import { codeOf, type Deadline } from '../core/rpc.js';
import type { Session } from '../irc/session.js';
import { type Door, isClosed } from './door.js';
import type { GiveBack } from './hourly-limit.js';
import { membersOf, requireKnown } from './lookups.js';
import { changeMembers } from './members.js';
import type { KeepChannelsOptions } from './options.js';
import type { OwnFacts } from './own-facts.js';
import type { PendingInvites } from './pending-invites.js';
import type {
  Asker,
  CreateChannel,
  CreatedChannel,
  RemoveChannel,
  RemovedChannel,
  UpdateChannel,
  UpdatedChannel,
} from './requests.js';
import type { Reserved } from './reserved.js';
import { changeModes, closeRoom, openRoom, prepareRoom, type Room, refusedByNetwork } from './room.js';
import type { Refused } from './room-settings.js';
import type { Tally } from './tally.js';

/** What the commands work with. */
export interface CommandsOptions
  extends Pick<KeepChannelsOptions, 'log' | 'logger' | 'irc' | 'bots' | 'masksIn' | 'lifetimes'> {
  reserved: Reserved;
  locks: KeyedLock;
  pending: PendingInvites;
  door: Door;
  /**
   * The channels that exist and the recent operations. Rejects with `Unavailable` while that cannot be known.
   */
  tally(): Promise<Tally>;
  own: OwnFacts;
  /** Called for each channel whose wanted state changes. */
  touched(name: string): void;
  /** Called for each channel whose record may differ from the network. */
  left(name: string): void;
}

/** Who asks, and until when they wait for an answer; for ever without a deadline. */
export interface WaitingAsker extends Asker {
  deadline?: Deadline;
}

type Undo = (seq?: number) => Promise<void>;

/** Whether an error says that the result is unknown, and not that the command was refused. */
export function isUnavailable(error: unknown): boolean {
  return (error as { kind?: unknown }).kind === 'unavailable';
}

/**
 * The commands of the channel service, in the process with the channel bot. Commands of one channel run in
 * sequence. Each is decided and recorded, then carried out on the network.
 */
export class Commands {
  /** Channels that may be recorded although nobody was invited yet: their repair makes up for it. */
  readonly unopened = new Set<string>();
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  async create(request: CreateChannel, asker: WaitingAsker): Promise<CreatedChannel> {
    const { name, type, modes, invite_list } = request;
    this.#options.reserved.refuse(name);
    const session = this.session();
    requireKnown(session, modes);
    return await this.alone(name, asker, async () => {
      if (await this.exists(name)) throw new Refusal('channel_exists');
      const tally = await this.#options.tally();
      const free = await tally.reserve(type, name);
      const { state, seq, undo } = await this.#record(request, asker, tally).finally(free);
      const invited = await this.#open(session, request, state, asker, undo);
      const failed_invites = invite_list.filter((nick) => !invited.includes(nick));
      this.#options.pending.add(name, failed_invites, isClosed(modes));
      return { name, type, modes, topic: state.topic, created: true, invited, failed_invites, seq };
    });
  }

  /** Records a creation. `undo` gives back what it took, with the sequence of its deletion if there is one. */
  async #record(
    request: CreateChannel,
    asker: WaitingAsker,
    tally: Tally,
  ): Promise<{ state: ChannelState; seq: number; undo: Undo }> {
    const { name, type, cause } = request;
    const limit = cause === 'request' ? tally.creations : undefined;
    const giveBack = await limit?.take(1, this.#options.log.now());
    const undo: Undo = async (seq = 0) => {
      tally.wrote(seq);
      await this.#giveBack(giveBack);
    };
    this.unopened.add(name);
    const { state, seq } = await this.decide({ is: 'create', ...request }, asker).catch(async (error) => {
      // what nobody can tell counts as done
      if (!isUnavailable(error)) await undo();
      throw error;
    });
    try {
      await tally.requireWithin(type, name, seq);
    } catch (error) {
      // until it can be told, the channel is not opened: its repair asks again
      if (isUnavailable(error)) throw error;
      const deleted = await this.takeBack(name, seq, asker);
      this.unopened.delete(name);
      await undo(deleted);
      throw error;
    }
    return { state, seq, undo };
  }

  /** Gives back what was taken from a limit. Where that is not stored it counts, and ends with the hour. */
  async #giveBack(giveBack: GiveBack | undefined): Promise<void> {
    await giveBack?.().catch((err: unknown) =>
      this.#options.logger.warn({ err }, 'what was not done counts for an hour'),
    );
  }

  /**
   * Deletes a channel that should not have been made; `life` is the sequence of the fact that made it. Answers the sequence
   * of the deletion; `undefined` if somebody else was faster.
   */
  async takeBack(name: string, life: number | undefined, asker: Asker): Promise<number | undefined> {
    try {
      return (await this.decide({ is: 'delete', name, cause: 'automation', life }, asker)).seq;
    } catch (error) {
      if (codeOf(error) !== 'not_found') throw error;
      return undefined;
    }
  }

  async update(request: UpdateChannel, asker: WaitingAsker): Promise<UpdatedChannel> {
    const { name, topic, modes } = request;
    const session = this.session();
    for (const change of modes) requireKnown(session, change);
    return await this.alone(name, asker, async () => {
      let { state, seq } = await this.look(name, asker);
      const changes = (['voice', 'devoice', 'op', 'deop'] as const)
        .map((action) => ({ action, nicks: request[action], reason: '' }))
        .filter(({ nicks }) => nicks.length > 0);
      const count = changes.reduce((sum, { nicks }) => sum + nicks.length, 0);
      await (await this.#options.tally()).memberOperations.take(count, this.#options.log.now());
      const refused = await this.#prepare(session, { ...state, name });
      if (refused) throw refusedByNetwork(refused, 'The network refuses the channel');
      // what the network may refuse comes first: then nothing was done
      for (const change of modes) {
        const refused = await changeModes(session, { ...state, name }, change, this.#options.bots);
        if (refused) throw refusedByNetwork(refused, 'The network refuses the modes');
        ({ state, seq } = await this.decide({ is: 'change modes', name, change }, asker));
      }
      // together with what rooms of tasks have besides
      if (modes.length > 0 && state.type === 'task') await this.#prepare(session, { ...state, name });
      if (topic !== undefined) {
        ({ state, seq } = await this.decide({ is: 'change topic', name, topic }, asker));
        await session.ask('SATOPIC', name, state.topic);
      }
      const failed = new Map<string, string>();
      for (const change of changes) {
        const outcome = await changeMembers(session, name, change, this.#options);
        for (const [nick, reason] of Object.entries(outcome.failed)) failed.set(nick, reason);
        const done = { is: 'record members' as const, name, ...change, nicks: outcome.successful };
        ({ seq } = await this.decide(done, asker));
      }
      const isOther = topic !== undefined && topic !== state.topic;
      return { name, ...(isOther ? { topic: state.topic } : {}), failed: Object.fromEntries(failed), seq };
    });
  }

  async remove(request: RemoveChannel, asker: WaitingAsker): Promise<RemovedChannel> {
    const { name, immediate } = request;
    const session = this.session();
    return await this.alone(name, asker, async () => {
      await this.look(name, asker);
      if (immediate) return await this.#delete(session, request, asker);
      const { deleteAfterMs } = this.#options.lifetimes;
      const archive = { is: 'archive' as const, ...request, deleteAfterMs };
      const tally = await this.#options.tally();
      const { state, seq, isNew } = await this.decide(archive, asker);
      // the event was acted upon before, and the channel was opened again since
      if (!state.archived) throw new Refusal('managed_channel_not_found');
      tally.wrote(seq);
      if (isNew) await this.carryOut(name, () => this.#prepare(session, { ...state, name }));
      const { reason: archive_reason, delete_after } = state.archived;
      return { is: 'archived', name, archive_reason, delete_after, seq };
    });
  }

  /** Deletes a channel that is due; does nothing if it is not due any more. */
  async expire(name: string, asker: WaitingAsker): Promise<void> {
    const session = this.session();
    await this.alone(name, asker, async () => {
      await this.look(name, asker);
      const tally = await this.#options.tally();
      const { state, seq, isNew } = await this.decide({ is: 'delete', name, cause: 'lifecycle' }, asker);
      if (!isNew) return;
      tally.wrote(seq);
      await this.#close(session, name, state.topic);
    });
  }

  /** The channels in which there is nobody but our bots. */
  async emptyAmong(names: readonly string[]): Promise<string[]> {
    const session = this.session();
    const ours = new Set([session.nick, ...this.#options.bots].map(casefold));
    const empty: string[] = [];
    for (const name of names) {
      const members = await membersOf(session, name);
      if ([...members.keys()].every((nick) => ours.has(nick))) empty.push(name);
    }
    return empty;
  }

  /**
   * The session of the channel bot. Throws `irc_unavailable` if it has none, or cannot force anything in it.
   */
  session(): Session {
    const session = this.#options.irc.session();
    if (!session?.oper || !session.forces || session.lost.aborted) throw new Unavailable('irc_unavailable');
    return session;
  }

  /** Runs commands of one channel in sequence. A command is dropped when nobody waits for it any more. */
  async alone<T>(
    name: string,
    { deadline }: Pick<WaitingAsker, 'deadline'>,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#options.locks.run(name, async () => {
      deadline?.require();
      try {
        return await work();
      } catch (error) {
        // the append may have been made, or the network changed, without the other
        if (isUnavailable(error)) this.#options.left(name);
        throw error;
      }
    });
  }

  /** Decides on the log. Answers the result, and whether it is new. */
  async decide(
    command: ChannelCommand,
    { by, cause_id = null }: Asker,
  ): Promise<{ state: ChannelState; seq: number; isNew: boolean }> {
    const { log, touched } = this.#options;
    const origin: Origin = { by, cause: cause_id };
    const { state, fact, position } = await this.#options.own.write(
      command.name,
      () => log.handle(channels, channelDecider, command, origin),
      (done) => (done.fact === undefined ? undefined : done.position.seq),
    );
    if (fact !== undefined) touched(command.name);
    // the log goes on with its own state: ours must stay what it was when this was decided
    return { state: { ...state }, seq: position.seq, isNew: fact !== undefined };
  }

  /**
   * A channel as it is recorded. Refuses a name that is not managed, and one that only an older record
   * manages.
   */
  async look(name: string, asker: Asker) {
    const found = await this.decide({ is: 'look', name }, asker);
    this.#options.reserved.refuse(name);
    return found;
  }

  /** Whether there is a managed channel of this name. */
  async exists(name: string): Promise<boolean> {
    try {
      await this.decide({ is: 'look', name }, { by: 'keep-channels' });
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'not_found') return false;
      throw error;
    }
  }

  /** Work on the network for what is recorded already. Without the network it is left for later. */
  async carryOut<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'irc_unavailable') throw error;
      this.#options.logger.warn({ channel: name }, 'channel is left for later: the session was lost');
      this.#options.left(name);
      return undefined;
    }
  }

  /** Brings a channel to its recorded state. Who had to leave it for that is awaited. */
  async #prepare(session: Session, room: Room): Promise<Refused | undefined> {
    const { pending } = this.#options;
    const { refused, out } = await prepareRoom(session, room, this.#options);
    pending.add(room.name, out, isClosed(room.modes));
    return refused;
  }

  async #delete(
    session: Session,
    { name, reason, cause }: RemoveChannel,
    asker: Asker,
  ): Promise<RemovedChannel> {
    const tally = await this.#options.tally();
    const limit = cause === 'request' ? tally.deletions : undefined;
    const giveBack = await limit?.take(1, this.#options.log.now());
    const { seq } = await this.decide({ is: 'delete', name, cause }, asker).catch(async (error) => {
      if (!isUnavailable(error)) await this.#giveBack(giveBack);
      throw error;
    });
    tally.wrote(seq);
    await this.#close(session, name, reason);
    return { is: 'deleted', name, seq };
  }

  /** What follows a deletion: nobody is expected there any more, and everybody is removed. */
  async #close(session: Session, name: string, reason: string): Promise<void> {
    this.#options.pending.remove(name);
    await this.carryOut(name, () => closeRoom(session, name, reason));
  }

  /**
   * What follows a creation: opens the channel on the network, and answers which of the invited came. If the
   * network refuses, or is lost while somebody waits for the answer, the creation is undone. If nobody waits,
   * it is left for later.
   */
  async #open(
    session: Session,
    { name, cause }: CreateChannel,
    state: ChannelState,
    asker: Asker,
    undo: Undo,
  ): Promise<string[]> {
    const room = { ...state, name };
    const opened = await this.carryOut(name, () =>
      openRoom(session, room, this.#options, this.#options.door),
    );
    if (opened && !opened.refused) this.unopened.delete(name);
    if (opened ? !opened.refused : cause !== 'request') return opened?.invited ?? [];
    const deleted = await this.takeBack(name, state.life, asker);
    this.unopened.delete(name);
    await undo(deleted);
    if (!opened?.refused) throw new Unavailable('irc_unavailable');
    if (session.isIn(name)) await this.carryOut(name, () => closeRoom(session, name, ''));
    throw refusedByNetwork(opened.refused, 'The network refuses the channel');
  }
}

import {
  type ChannelCommand,
  type ChannelState,
  channelDecider,
  channels,
  mayInvite,
} from '../../streams/channels/index.js';
import { type Origin, Refusal, Unavailable } from '../../streams/core/index.js';
import type { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import type { Enforced, Enforcement } from '../../streams/moderation/index.js';
import type { Deadline } from '../core/rpc.js';
import type { Session } from '../irc/session.js';
import { enforce } from './enforce.js';
import { type Members, membersOf, online, requireKnown } from './lookups.js';
import { allFailed, changeMembers, type MembersOutcome } from './members.js';
import type { KeepChannelsOptions } from './options.js';
import type { PendingInvites } from './pending-invites.js';
import type {
  Asked,
  Asker,
  ChangedMembers,
  ChangeMembers,
  CreateChannel,
  CreatedChannel,
  InvitedMembers,
  InviteMembers,
  RemoveChannel,
  RemovedChannel,
  UpdateChannel,
  UpdatedChannel,
} from './requests.js';
import type { Reserved } from './reserved.js';
import {
  changeModes,
  closeRoom,
  openRoom,
  prepareRoom,
  refusedByNetwork,
  repairRoom,
  voiceBots,
} from './room.js';
import type { Tally } from './tally.js';

/** What the commands work with. */
export interface CommandsOptions extends Omit<KeepChannelsOptions, 'reserved'> {
  reserved: Reserved;
  locks: KeyedLock;
  pending: PendingInvites;
  /** What there is and was done lately. Rejects with `Unavailable` while that cannot be known. */
  tally(): Promise<Tally>;
  /** Told of each channel that is to be another than before. */
  touched(name: string): void;
  /** Told of each channel that is recorded to be otherwise than the network could be told. */
  left(name: string): void;
}

/** Who asks, and until when an answer is waited for; for ever without a deadline. */
interface WaitingAsker extends Asker {
  deadline?: Deadline;
}

/** An operation of a command, as it is asked for over the log server. */
const command =
  <Request>(run: (request: Request, asker: WaitingAsker) => Promise<unknown>) =>
  ({ request, asker }: Asked<Request>, deadline: Deadline) =>
    run(request, { ...asker, deadline });

/** Users of a task channel, our bots apart. */
const mostInTaskChannel = 50;

/** The commands of the channel service, where the channel bot is: what is decided is recorded, then carried out. */
export class Commands {
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** The operations under the names by which other processes ask for them. */
  operations() {
    return {
      create: command<CreateChannel>((request, asker) => this.create(request, asker)),
      invite: command<InviteMembers>((request, asker) => this.invite(request, asker)),
      update: command<UpdateChannel>((request, asker) => this.update(request, asker)),
      remove: command<RemoveChannel>((request, asker) => this.remove(request, asker)),
      members: command<ChangeMembers>((request, asker) => this.members(request, asker)),
      enforce: (wanted: Enforcement, deadline: Deadline) => this.enforce(wanted, deadline),
      online: (nicks: string[]) => this.online(nicks),
    };
  }

  async create(request: CreateChannel, asker: WaitingAsker): Promise<CreatedChannel> {
    const { name, type, modes, invite_list, cause } = request;
    this.#options.reserved.refuse(name);
    const session = this.#session();
    requireKnown(session, modes);
    return await this.#alone(name, asker, async () => {
      if (await this.#exists(name)) throw new Refusal('channel_exists');
      const tally = await this.#options.tally();
      tally.requireRoom(type);
      const limit = cause === 'request' ? tally.creations : undefined;
      limit?.take(1, this.#options.log.now());
      try {
        const { state, seq } = await this.#decide({ is: 'create', ...request }, asker);
        tally.count(type, 1);
        const invited = await this.#open(session, request, state, asker);
        const failed_invites = invite_list.filter((nick) => !invited.includes(nick));
        this.#options.pending.add(name, failed_invites);
        return { name, type, modes, topic: state.topic, created: true, invited, failed_invites, seq };
      } catch (error) {
        limit?.giveBack(1);
        throw error;
      }
    });
  }

  async invite({ name, nicks, event_seq }: InviteMembers, asker: WaitingAsker): Promise<InvitedMembers> {
    const session = this.#session();
    return await this.#alone(name, asker, async () => {
      const { state, seq } = await this.#look(name, asker);
      if (!mayInvite(state, { event_seq })) return { name, invited: [], failed_invites: [], seq };
      const { refused, members } = await prepareRoom(session, { ...state, name }, this.#options.bots);
      if (refused) throw refusedByNetwork(refused, 'The network refuses the channel');
      const missing = nicks.filter((nick) => !members.has(casefold(nick)));
      const { successful: invited, failed } = await this.#changeMembers(
        session,
        { ...state, name },
        members,
        {
          action: 'sajoin',
          nicks: missing,
          reason: '',
        },
      );
      const failed_invites = Object.keys(failed);
      // recorded last: where the session ends before, the event asks them in again
      const recorded = await this.#decide({ is: 'invite', name, nicks: missing, event_seq }, asker);
      this.#options.pending.add(name, failed_invites);
      return { name, invited, failed_invites, seq: recorded.seq };
    });
  }

  async update(request: UpdateChannel, asker: WaitingAsker): Promise<UpdatedChannel> {
    const { name, topic, modes } = request;
    const session = this.#session();
    for (const change of modes) requireKnown(session, change);
    return await this.#alone(name, asker, async () => {
      let { state, seq } = await this.#look(name, asker);
      const changes = (['voice', 'devoice', 'op', 'deop'] as const)
        .map((action) => ({ action, nicks: request[action], reason: '' }))
        .filter(({ nicks }) => nicks.length > 0);
      const count = changes.reduce((sum, { nicks }) => sum + nicks.length, 0);
      (await this.#options.tally()).memberOperations.take(count, this.#options.log.now());
      const { refused } = await prepareRoom(session, { ...state, name }, this.#options.bots);
      if (refused) throw refusedByNetwork(refused, 'The network refuses the channel');
      // what the network may refuse comes first: then nothing was done
      for (const change of modes) {
        const refused = await changeModes(session, { ...state, name }, change, this.#options.bots);
        if (refused) throw refusedByNetwork(refused, 'The network refuses the modes');
        ({ state, seq } = await this.#decide({ is: 'change modes', name, change }, asker));
      }
      if (topic !== undefined) {
        ({ state, seq } = await this.#decide({ is: 'change topic', name, topic }, asker));
        await session.ask('SATOPIC', name, state.topic);
      }
      const failed = new Map<string, string>();
      for (const change of changes) {
        const outcome = await changeMembers(session, name, change, this.#options);
        for (const [nick, reason] of Object.entries(outcome.failed)) failed.set(nick, reason);
        const done = { is: 'record members' as const, name, ...change, nicks: outcome.successful };
        ({ seq } = await this.#decide(done, asker));
      }
      return { name, failed: Object.fromEntries(failed), seq };
    });
  }

  async remove(request: RemoveChannel, asker: WaitingAsker): Promise<RemovedChannel> {
    const { name, immediate } = request;
    const session = this.#session();
    return await this.#alone(name, asker, async () => {
      const before = await this.#look(name, asker);
      if (immediate) return await this.#delete(session, request, asker, before.state);
      const { deleteAfterMs } = this.#options.lifetimes;
      const archive = { is: 'archive' as const, ...request, deleteAfterMs };
      const { state, seq, isNew } = await this.#decide(archive, asker);
      // an event that was acted upon before, and the channel was opened again since
      if (!state.archived) throw new Refusal('not_found', 'Channel not found');
      if (isNew)
        await this.#carryOut(name, () => prepareRoom(session, { ...state, name }, this.#options.bots));
      const { reason: archive_reason, delete_after } = state.archived;
      return { is: 'archived', name, archive_reason, delete_after, seq };
    });
  }

  async members(request: ChangeMembers, asker: WaitingAsker): Promise<ChangedMembers> {
    const { name, action, nicks, reason, cause = 'request' } = request;
    return await this.#alone(name, asker, async () => {
      const { state, seq } = await this.#look(name, asker);
      let session: Session;
      try {
        session = this.#session();
      } catch {
        return { action, successful: [], failed: allFailed(nicks), seq };
      }
      if (cause === 'request')
        (await this.#options.tally()).memberOperations.take(nicks.length, this.#options.log.now());
      const { refused, members } = await prepareRoom(session, { ...state, name }, this.#options.bots);
      if (refused) return { action, successful: [], failed: allFailed(nicks), seq };
      const change = { action, nicks, reason };
      const outcome = await this.#changeMembers(session, { ...state, name }, members, change);
      if (action === 'sapart') this.#options.pending.remove(name, nicks);
      const done = { is: 'record members' as const, name, action, reason, nicks: outcome.successful };
      const recorded = await this.#decide(done, asker);
      return { action, ...outcome, seq: recorded.seq };
    });
  }

  /** Does something to members, within what a task channel takes; our bots keep their voice. */
  async #changeMembers(
    session: Session,
    channel: ChannelState & { name: string },
    members: Members,
    change: Parameters<typeof changeMembers>[2],
  ): Promise<MembersOutcome> {
    const { name, type } = channel;
    const room = type === 'task' ? mostInTaskChannel - this.#agents(session, members) : undefined;
    const outcome = await changeMembers(session, name, change, { ...this.#options, room });
    if (change.action === 'sajoin')
      await voiceBots(session, channel, await membersOf(session, name), this.#options.bots);
    return outcome;
  }

  /** Those of the nicks that are on the network now. */
  async online(nicks: string[]): Promise<string[]> {
    const there = await online(this.#session(), nicks.filter(isNick));
    return nicks.filter((nick) => there.has(casefold(nick)));
  }

  /** Acts against somebody in a channel, or takes that back. Nothing of it is recorded here. */
  async enforce(wanted: Enforcement, deadline: Deadline): Promise<Enforced> {
    const session = this.#session();
    return await this.#alone(casefold(wanted.channel), { deadline }, () => enforce(session, wanted));
  }

  /** Deletes a channel that is due, or nothing when it is not any more; tells whether it did. */
  async expire(name: string, asker: WaitingAsker): Promise<boolean> {
    const session = this.#session();
    return await this.#alone(name, asker, async () => {
      await this.#look(name, asker);
      const tally = await this.#options.tally();
      const { state, isNew } = await this.#decide({ is: 'delete', name, cause: 'lifecycle' }, asker);
      if (!isNew) return false;
      tally.count(state.type, -1);
      this.#options.pending.remove(name);
      await this.#carryOut(name, () => closeRoom(session, name, state.topic));
      return true;
    });
  }

  /** Brings one channel to what it is to be, if it is managed, and our bots into it; tells what was different. */
  async repair(name: string): Promise<string[]> {
    const session = this.#session();
    return await this.#alone(name, {}, async () => {
      const { state } = await this.#look(name, { by: 'keep-channels' });
      return await repairRoom(session, { ...state, name }, this.#options.bots);
    });
  }

  async #delete(
    session: Session,
    { name, reason, cause }: RemoveChannel,
    asker: Asker,
    { type }: ChannelState,
  ): Promise<RemovedChannel> {
    const tally = await this.#options.tally();
    const limit = cause === 'request' ? tally.deletions : undefined;
    limit?.take(1, this.#options.log.now());
    const { seq } = await this.#decide({ is: 'delete', name, cause }, asker).catch((error) => {
      limit?.giveBack(1);
      throw error;
    });
    tally.count(type, -1);
    this.#options.pending.remove(name);
    await this.#carryOut(name, () => closeRoom(session, name, reason));
    return { is: 'deleted', name, seq };
  }

  /**
   * What follows a creation on the network; those of the invited who came. Takes it back when the network refuses, or
   * is lost while somebody waits for the answer; what no one waits for is left for later then.
   */
  async #open(
    session: Session,
    { name, cause }: CreateChannel,
    state: ChannelState,
    asker: Asker,
  ): Promise<string[]> {
    const opened = await this.#carryOut(name, () =>
      openRoom(session, { ...state, name }, this.#options.bots),
    );
    if (opened ? !opened.refused : cause !== 'request') return opened?.invited ?? [];
    await this.#decide({ is: 'delete', name, cause: 'request' }, asker);
    (await this.#options.tally()).count(state.type, -1);
    if (!opened?.refused) throw new Unavailable('irc_unavailable');
    if (session.isIn(name)) await this.#carryOut(name, () => closeRoom(session, name, ''));
    throw refusedByNetwork(opened.refused, 'The network refuses the channel');
  }

  /** Work on the network for what is recorded already: without the network it is left for later. */
  async #carryOut<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'irc_unavailable') throw error;
      this.#options.logger.warn({ channel: name }, 'channel is left for later: the session was lost');
      this.#options.left(name);
      return undefined;
    }
  }

  async #decide(
    command: ChannelCommand,
    { by, cause_id = null }: Asker,
  ): Promise<{ state: ChannelState; seq: number; isNew: boolean }> {
    const origin: Origin = { by, cause: cause_id };
    const { state, fact, position } = await this.#options.log.handle(
      channels,
      channelDecider,
      command,
      origin,
    );
    if (fact !== undefined) this.#options.touched(command.name);
    // the log goes on with its own: ours must stay what it was when this was decided
    return { state: { ...state }, seq: position.seq, isNew: fact !== undefined };
  }

  /** A channel as it is recorded. Refuses what is not managed, and what an older record has as managed and is not to be. */
  async #look(name: string, asker: Asker) {
    const found = await this.#decide({ is: 'look', name }, asker);
    this.#options.reserved.refuse(name);
    return found;
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.#decide({ is: 'look', name }, { by: 'keep-channels' });
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'not_found') return false;
      throw error;
    }
  }

  /** One command after the other for each channel, as long as somebody waits for it. */
  async #alone<T>(
    name: string,
    { deadline }: Pick<WaitingAsker, 'deadline'>,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#options.locks.run(name, async () => {
      deadline?.require();
      return await work();
    });
  }

  #session(): Session {
    const session = this.#options.irc.session();
    if (!session?.oper || !session.forces || session.lost.aborted) throw new Unavailable('irc_unavailable');
    return session;
  }

  #agents(session: Session, members: Members): number {
    const bots = new Set([session.nick, ...this.#options.bots].map(casefold));
    return [...members.keys()].filter((nick) => !bots.has(nick)).length;
  }
}

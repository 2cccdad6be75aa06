import { type ChannelState, channelSubject, channels, mayInvite } from '../../streams/channels/index.js';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import type { Enforced, Enforcement } from '../../streams/moderation/index.js';
import type { Deadline } from '../core/rpc.js';
import { permanentMode } from '../irc/join.js';
import type { Session } from '../irc/session.js';
import { enforce } from './enforce.js';
import { Executor, type ExecutorOptions, isUnavailable, type WaitingAsker } from './executor.js';
import { type Members, membersOf, modesOf, online, requireKnown } from './lookups.js';
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
import { changeModes, closeRoom, openRoom, prepareRoom, refusedByNetwork, repairRoom } from './room.js';
import type { Tally } from './tally.js';
import { voiceBots } from './voices.js';

/** What the commands work with. */
export interface CommandsOptions extends ExecutorOptions, Omit<KeepChannelsOptions, 'reserved'> {
  pending: PendingInvites;
  /** What there is and was done lately. Rejects with `Unavailable` while that cannot be known. */
  tally(): Promise<Tally>;
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
  readonly #executor: Executor;
  /** Channels that may be recorded without anybody being asked in yet: that is made up for when they are repaired. */
  readonly #unopened = new Set<string>();

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.#executor = new Executor(options);
  }

  /** Channels into which nobody may have been asked yet. */
  get unopened(): string[] {
    return [...this.#unopened];
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
    const session = this.#executor.session();
    requireKnown(session, modes);
    return await this.#executor.alone(name, asker, async () => {
      if (await this.#executor.exists(name)) throw new Refusal('channel_exists');
      const tally = await this.#options.tally();
      tally.requireRoom(type);
      const limit = cause === 'request' ? tally.creations : undefined;
      limit?.take(1, this.#options.log.now());
      tally.count(type, 1);
      const undo = () => {
        limit?.giveBack(1);
        tally.count(type, -1);
      };
      this.#unopened.add(name);
      const { state, seq } = await this.#executor
        .decide({ is: 'create', ...request }, asker)
        .catch((error) => {
          // what nobody can tell counts as done
          if (!isUnavailable(error)) undo();
          throw error;
        });
      const invited = await this.#open(session, request, state, asker, undo);
      const failed_invites = invite_list.filter((nick) => !invited.includes(nick));
      this.#options.pending.add(name, failed_invites);
      return { name, type, modes, topic: state.topic, created: true, invited, failed_invites, seq };
    });
  }

  async invite({ name, nicks, event_seq }: InviteMembers, asker: WaitingAsker): Promise<InvitedMembers> {
    const session = this.#executor.session();
    return await this.#executor.alone(name, asker, async () => {
      const { state, seq } = await this.#executor.look(name, asker);
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
      const recorded = await this.#executor.decide({ is: 'invite', name, nicks: missing, event_seq }, asker);
      this.#options.pending.add(name, failed_invites);
      return { name, invited, failed_invites, seq: recorded.seq };
    });
  }

  async update(request: UpdateChannel, asker: WaitingAsker): Promise<UpdatedChannel> {
    const { name, topic, modes } = request;
    const session = this.#executor.session();
    for (const change of modes) requireKnown(session, change);
    return await this.#executor.alone(name, asker, async () => {
      let { state, seq } = await this.#executor.look(name, asker);
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
        ({ state, seq } = await this.#executor.decide({ is: 'change modes', name, change }, asker));
      }
      if (topic !== undefined) {
        ({ state, seq } = await this.#executor.decide({ is: 'change topic', name, topic }, asker));
        await session.ask('SATOPIC', name, state.topic);
      }
      const failed = new Map<string, string>();
      for (const change of changes) {
        const outcome = await changeMembers(session, name, change, this.#options);
        for (const [nick, reason] of Object.entries(outcome.failed)) failed.set(nick, reason);
        const done = { is: 'record members' as const, name, ...change, nicks: outcome.successful };
        ({ seq } = await this.#executor.decide(done, asker));
      }
      return { name, failed: Object.fromEntries(failed), seq };
    });
  }

  async remove(request: RemoveChannel, asker: WaitingAsker): Promise<RemovedChannel> {
    const { name, immediate } = request;
    const session = this.#executor.session();
    return await this.#executor.alone(name, asker, async () => {
      const before = await this.#executor.look(name, asker);
      if (immediate) return await this.#delete(session, request, asker, before.state);
      const { deleteAfterMs } = this.#options.lifetimes;
      const archive = { is: 'archive' as const, ...request, deleteAfterMs };
      const { state, seq, isNew } = await this.#executor.decide(archive, asker);
      // an event that was acted upon before, and the channel was opened again since
      if (!state.archived) throw new Refusal('not_found', 'Channel not found');
      if (isNew)
        await this.#executor.carryOut(name, () =>
          prepareRoom(session, { ...state, name }, this.#options.bots),
        );
      const { reason: archive_reason, delete_after } = state.archived;
      return { is: 'archived', name, archive_reason, delete_after, seq };
    });
  }

  async members(request: ChangeMembers, asker: WaitingAsker): Promise<ChangedMembers> {
    const { name, action, nicks, reason, cause = 'request' } = request;
    return await this.#executor.alone(name, asker, async () => {
      const { state, seq } = await this.#executor.look(name, asker);
      let session: Session;
      try {
        session = this.#executor.session();
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
      const recorded = await this.#executor.decide(done, asker);
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
    const there = await online(this.#executor.session(), nicks.filter(isNick));
    return nicks.filter((nick) => there.has(casefold(nick)));
  }

  /** Acts against somebody in a channel, or takes that back. Nothing of it is recorded here. */
  async enforce(wanted: Enforcement, deadline: Deadline): Promise<Enforced> {
    const session = this.#executor.session();
    return await this.#executor.alone(casefold(wanted.channel), { deadline }, () => enforce(session, wanted));
  }

  /** Deletes a channel that is due, or nothing when it is not any more; tells whether it did. */
  async expire(name: string, asker: WaitingAsker): Promise<boolean> {
    const session = this.#executor.session();
    return await this.#executor.alone(name, asker, async () => {
      await this.#executor.look(name, asker);
      const tally = await this.#options.tally();
      const { state, isNew } = await this.#executor.decide({ is: 'delete', name, cause: 'lifecycle' }, asker);
      if (!isNew) return false;
      tally.count(state.type, -1);
      this.#options.pending.remove(name);
      await this.#executor.carryOut(name, () => closeRoom(session, name, state.topic));
      return true;
    });
  }

  /** Brings one channel to what it is recorded to be, and our bots into it; tells what was different. */
  async repair(name: string): Promise<string[]> {
    const session = this.#executor.session();
    return await this.#executor.alone(name, {}, async () => {
      if (!(await this.#executor.exists(name))) return await this.#removeLeftover(session, name);
      const { state } = await this.#executor.look(name, { by: 'keep-channels' });
      if (!this.#unopened.has(name)) return await repairRoom(session, { ...state, name }, this.#options.bots);
      const { invited, refused } = await openRoom(session, { ...state, name }, this.#options.bots);
      this.#unopened.delete(name);
      if (refused) throw refusedByNetwork(refused, 'The network refuses the channel');
      this.#options.pending.add(
        name,
        state.invited.filter((nick) => !invited.includes(nick)),
      );
      return ['opened'];
    });
  }

  /** Closes a channel of ours that was deleted and is still there. */
  async #removeLeftover(session: Session, name: string): Promise<string[]> {
    const { log } = this.#options;
    this.#unopened.delete(name);
    this.#options.reserved.refuse(name);
    if ((await log.last(channels, channelSubject(name)))?.type !== 'channel.deleted') return [];
    // without +P it is somebody else's by now: the name is free again
    if (!(await modesOf(session, name)).has(permanentMode)) return [];
    await closeRoom(session, name, 'Channel deleted');
    return ['removed'];
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
    const { seq } = await this.#executor.decide({ is: 'delete', name, cause }, asker).catch((error) => {
      if (!isUnavailable(error)) limit?.giveBack(1);
      throw error;
    });
    tally.count(type, -1);
    this.#options.pending.remove(name);
    await this.#executor.carryOut(name, () => closeRoom(session, name, reason));
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
    undo: () => void,
  ): Promise<string[]> {
    const opened = await this.#executor.carryOut(name, () =>
      openRoom(session, { ...state, name }, this.#options.bots),
    );
    if (opened && !opened.refused) this.#unopened.delete(name);
    if (opened ? !opened.refused : cause !== 'request') return opened?.invited ?? [];
    await this.#executor.decide({ is: 'delete', name, cause: 'request' }, asker);
    this.#unopened.delete(name);
    undo();
    if (!opened?.refused) throw new Unavailable('irc_unavailable');
    if (session.isIn(name)) await this.#executor.carryOut(name, () => closeRoom(session, name, ''));
    throw refusedByNetwork(opened.refused, 'The network refuses the channel');
  }

  #agents(session: Session, members: Members): number {
    const bots = new Set([session.nick, ...this.#options.bots].map(casefold));
    return [...members.keys()].filter((nick) => !bots.has(nick)).length;
  }
}

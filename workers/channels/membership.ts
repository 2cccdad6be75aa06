import {
  type ChannelState,
  changedModes,
  channels,
  isActedUpon,
  mayInvite,
  withNicks,
} from '../../streams/channels/index.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import type { Session } from '../irc/session.js';
import type { Commands, CommandsOptions, WaitingAsker } from './commands.js';
import { isClosed } from './door.js';
import { holderOf, isHolder } from './holder.js';
import { type Members, membersOf, online } from './lookups.js';
import {
  allFailed,
  banned,
  changeMembers,
  isDone,
  type MembersOutcome,
  muted,
  notIdentified,
  ofAnother,
} from './members.js';
import { bannedAmong, mutedAmong } from './offenders.js';
import type {
  ChangedMembers,
  ChangeMembers,
  Holder,
  InvitedMembers,
  InviteMembers,
  LookInside,
  PresentMembers,
} from './requests.js';
import { prepareRoom, refusedByNetwork } from './room.js';
import { voiceBots } from './voices.js';

/** Users of a task channel, our bots apart. */
const mostInTaskChannel = 50;

/** A channel is opened within this time after it was recorded, in milliseconds, by whoever recorded it or by the event that asked for it. */
const openingMs = 120_000;

const isAmong = (nicks: readonly string[], nick: string): boolean =>
  nicks.some((other) => casefold(other) === casefold(nick));

/** The commands about who is in a managed channel, and what they may do there. */
export class Membership {
  readonly #commands: Commands;
  readonly #options: CommandsOptions;

  constructor(commands: Commands, options: CommandsOptions) {
    this.#commands = commands;
    this.#options = options;
  }

  async invite(request: InviteMembers, asker: WaitingAsker): Promise<InvitedMembers> {
    const { name, nicks, event_seq, modes = '' } = request;
    const { door, pending } = this.#options;
    const session = this.#commands.session();
    return await this.#commands.alone(name, asker, async () => {
      let { state, seq } = await this.#commands.look(name, asker);
      const done = { name, invited: [], failed_invites: [], seq };
      // whoever made the channel for this event may have ended before anybody was brought in
      const isOpening =
        state.status === 'active' && state.event_seq === event_seq && (await this.#isNew(state.life));
      if (isActedUpon(request, state) && !isOpening) return done;
      // the room of a newly assigned task may have been opened for all; an archived one is still closed
      const isTaken = state.event_seq === 0 || changedModes(state.modes, modes) !== state.modes;
      if (modes !== '')
        ({ state, seq } = await this.#commands.decide({ is: 'change modes', name, change: modes }, asker));
      const invites = isOpening || mayInvite(state, request);
      const invited = invites ? withNicks(state.invited, nicks) : state.invited;
      const admitted = await door.admitted(session, name, state.modes, invited);
      const wanted = { ...state, name, invited: admitted, isTaken };
      const { refused, members, out } = await prepareRoom(session, wanted, this.#options);
      pending.add(name, out, isClosed(state.modes));
      if (refused) throw refusedByNetwork(refused, 'The network refuses the channel');
      if (!invites) return { ...done, seq };
      const missing = nicks.filter((nick) => !members.has(casefold(nick)));
      const keptOut = await bannedAmong(session, name, missing, this.#options);
      const change = {
        action: 'sajoin' as const,
        reason: '',
        nicks: missing.filter((nick) => admitted.includes(nick) && !keptOut.includes(nick)),
      };
      const { successful } = await this.#changeMembers(session, { ...state, name }, members, change);
      const failed_invites = missing.filter((nick) => !successful.includes(nick));
      // recorded last: if the session ends before, the event invites them again
      const recorded = await this.#commands.decide({ is: 'invite', name, nicks: missing, event_seq }, asker);
      pending.add(name, failed_invites, isClosed(state.modes));
      return { name, invited: successful, failed_invites, seq: recorded.seq };
    });
  }

  /** Whether the life of a channel began a moment ago. */
  async #isNew(life: number | undefined): Promise<boolean> {
    const { log } = this.#options;
    const made = life === undefined ? undefined : await log.at(channels, life);
    return made !== undefined && log.now().getTime() - made.at.getTime() < openingMs;
  }

  async members(request: ChangeMembers, asker: WaitingAsker): Promise<ChangedMembers> {
    const { name, action, nicks, reason, cause = 'request', holder } = request;
    return await this.#commands.alone(name, asker, async () => {
      const { state, seq } = await this.#commands.look(name, asker);
      let session: Session;
      try {
        session = this.#commands.session();
      } catch {
        return { action, successful: [], failed: allFailed(nicks), seq };
      }
      if (cause === 'request')
        await (await this.#options.tally()).memberOperations.take(nicks.length, this.#options.log.now());
      const { refused, members, out } = await prepareRoom(session, { ...state, name }, this.#options);
      this.#options.pending.add(name, out, isClosed(state.modes));
      if (refused) return { action, successful: [], failed: allFailed(nicks), seq };
      const isAsked = cause === 'request' || action !== 'sajoin';
      const unproven = isAsked ? [] : await this.#unproven(session, { ...state, name }, nicks);
      const others = holder ? await this.#others(session, name, nicks, holder) : [];
      const held = cause === 'request' ? [] : await this.#heldAmong(session, name, action, nicks);
      const left = nicks.filter((nick) => ![unproven, held, others].some((some) => isAmong(some, nick)));
      const change = { action, nicks: left, reason };
      const outcome = await this.#changeMembers(session, { ...state, name }, members, change);
      for (const nick of unproven) outcome.failed[nick] = notIdentified;
      const why = action === 'voice' ? muted : banned;
      for (const nick of nicks) if (isAmong(held, nick)) outcome.failed[nick] = why;
      for (const nick of others) outcome.failed[nick] = ofAnother;
      if (action === 'sapart') this.#options.pending.remove(name, nicks);
      // automation tries again and again: what it finds done is no news
      const isNews = (nick: string) => cause === 'request' || !isDone[action](members.get(casefold(nick)));
      const news = outcome.successful.filter(isNews);
      const done = { is: 'record members' as const, name, action, reason, nicks: news, cause };
      const recorded = await this.#commands.decide(done, asker);
      return { action, ...outcome, seq: recorded.seq };
    });
  }

  async present({ name, isStandingAsked }: LookInside, asker: WaitingAsker): Promise<PresentMembers> {
    const { bots, door } = this.#options;
    const session = this.#commands.session();
    return await this.#commands.alone(name, asker, async () => {
      const ours = new Set([session.nick, ...bots].map(casefold));
      const members = [...(await membersOf(session, name))].filter(([key]) => !ours.has(key));
      const nicks = members.map(([, { nick }]) => nick);
      const unproven: string[] = [];
      for (const nick of isStandingAsked ? nicks : [])
        if ((await door.standing(session, nick)) === 'unproven') unproven.push(nick);
      return { nicks, unproven };
    });
  }

  /** The nicks that moderation has muted, or banned: voice overrides a mute, and force a ban. What comes by itself waits. */
  async #heldAmong(
    session: Session,
    name: string,
    action: ChangeMembers['action'],
    nicks: readonly string[],
  ): Promise<string[]> {
    if (action === 'voice') return await mutedAmong(session, name, nicks, this.#options);
    return action === 'sajoin' ? await bannedAmong(session, name, nicks, this.#options) : [];
  }

  /** The nicks that may be somebody else's, as far as can be known. */
  async #unproven(
    session: Session,
    { name, modes }: { name: string; modes: string },
    nicks: readonly string[],
  ): Promise<string[]> {
    const { door } = this.#options;
    const admitted = await door.admitted(session, name, modes, nicks);
    const there = await online(session, nicks.filter(isNick));
    return nicks.filter((nick) => !admitted.includes(nick) && there.has(casefold(nick)));
  }

  /** The nicks that somebody else has now than who is meant. They are told. */
  async #others(
    session: Session,
    channel: string,
    nicks: readonly string[],
    meant: Holder,
  ): Promise<string[]> {
    const others: string[] = [];
    for (const nick of nicks.filter(isNick)) {
      const holder = await holderOf(session, nick);
      if (!holder || isHolder(meant, holder)) continue;
      this.#options.door.tellAnother(session, nick, holder, channel);
      others.push(nick);
    }
    return others;
  }

  /** Changes members, within the capacity of a task channel. Our bots keep their voice. */
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

  #agents(session: Session, members: Members): number {
    const bots = new Set([session.nick, ...this.#options.bots].map(casefold));
    return [...members.keys()].filter((nick) => !bots.has(nick)).length;
  }
}

import { type Decider, Refusal } from '../core/index.js';
import { casefold, cleanText, cutToBytes, isManagedChannel } from '../irc-grammar.js';
import {
  type ChannelCause,
  type ChannelFact,
  type ChannelType,
  channelSubject,
  type MemberAction,
} from './facts.js';
import { changedModes, parseModes } from './modes.js';

/** What is known about one channel name. */
export interface ChannelState {
  /** `none`: never created. After `deleted` the name is free again. */
  status: 'none' | 'active' | 'archived' | 'deleted';
  type: ChannelType;
  topic: string;
  modes: string;
  /** Nicks that were asked in and not parted since. */
  invited: string[];
  /** Nicks that the service made operators of the channel, and that still are. */
  operators: string[];
  /** Set while archived; `delete_after` is ISO 8601. */
  archived: { reason: string; delete_after: string } | undefined;
  /** Sequence of the last market event that automation acted upon here; 0 before there was one. */
  event_seq: number;
  /** Sequence of the fact that created it last; `undefined` where it is not known. */
  life: number | undefined;
}

/** What can be asked for one channel. */
export type ChannelCommand = {
  name: string;
} /** `look` changes nothing: it asks whether there is such a channel, and for its wanted state. */ & (
  | { is: 'look' }
  | {
      is: 'create';
      type: ChannelType;
      modes: string;
      topic: string;
      metadata: Record<string, unknown>;
      invite_list: string[];
      cause: ChannelCause;
      event_seq?: number | undefined;
    }
  | { is: 'change topic'; topic: string }
  | { is: 'change modes'; change: string }
  | { is: 'record members'; action: MemberAction; nicks: string[]; reason: string; cause?: ChannelCause }
  | { is: 'invite'; nicks: string[]; event_seq: number }
  | {
      is: 'archive';
      reason: string;
      deleteAfterMs: number;
      cause: ChannelCause;
      event_seq?: number | undefined;
    }
  /** With `life`, it is refused when that life of the channel is over. */
  | { is: 'delete'; cause: ChannelCause; life?: number | undefined }
);

/**
 * The life of a managed channel. It is created once, then archived or deleted. Once deleted, its name is free
 * again.
 */
export const channelDecider: Decider<ChannelState, ChannelCommand, ChannelFact> = {
  initial: () => ({
    status: 'none',
    type: 'special',
    topic: '',
    modes: '',
    invited: [],
    operators: [],
    archived: undefined,
    event_seq: 0,
    life: undefined,
  }),

  subject: ({ name }) => channelSubject(name),

  evolve(state, { type, data }, seq) {
    switch (type) {
      case 'channel.created': {
        const { type, topic, modes, invite_list: invited } = data;
        Object.assign(state, {
          status: 'active',
          type,
          topic,
          modes,
          invited,
          operators: [],
          archived: undefined,
          life: seq,
        });
        state.event_seq = Math.max(state.event_seq, data.event_seq ?? 0);
        break;
      }
      case 'topic.changed':
        state.topic = data.topic;
        break;
      case 'modes.changed':
        state.modes = data.modes;
        break;
      case 'members.changed':
        if (data.action === 'sapart') state.invited = withoutNicks(state.invited, data.nicks);
        if (data.action === 'op') state.operators = withNicks(state.operators, data.nicks);
        if (data.action === 'deop' || data.action === 'sapart')
          state.operators = withoutNicks(state.operators, data.nicks);
        break;
      case 'members.invited':
        state.invited = withNicks(state.invited, data.nicks);
        state.event_seq = Math.max(state.event_seq, data.event_seq);
        break;
      case 'channel.archived': {
        const { reason, delete_after } = data;
        Object.assign(state, archivedLook(state, data), {
          status: 'archived',
          archived: { reason, delete_after },
        });
        state.event_seq = Math.max(state.event_seq, data.event_seq ?? 0);
        break;
      }
      case 'channel.deleted':
        state.status = 'deleted';
        break;
    }
  },

  decide(command, state, now) {
    const { name } = command;
    const exists = state.status === 'active' || state.status === 'archived';
    if (command.is === 'create') {
      if (exists) throw new Refusal('channel_exists');
      if (isActedUpon(command, state)) throw new Refusal('channel_exists', 'Channel existed and was deleted');
      if (!isManagedChannel(name)) throw invalid('name', 'name must be # and 3 to 60 of a-z 0-9 _ -');
      const { type, metadata, invite_list, cause, event_seq } = command;
      const modes = checkedModes(command.modes);
      const topic = shortLine(command.topic);
      const data = {
        name,
        type,
        modes,
        topic,
        metadata,
        invite_list,
        cause,
        ...(event_seq ? { event_seq } : {}),
      };
      return { type: 'channel.created', data };
    }
    if (!exists) throw new Refusal('managed_channel_not_found');
    // a reader that has only the last fact of a channel learns from it which life of the channel this is
    const life = state.life === undefined ? {} : { life: state.life };
    switch (command.is) {
      case 'look':
        return undefined;
      case 'change topic': {
        const topic = shortLine(command.topic);
        return topic === state.topic ? undefined : { type: 'topic.changed', data: { name, topic, ...life } };
      }
      case 'change modes': {
        const change = checkedModes(command.change);
        const modes = changedModes(state.modes, change);
        return modes === state.modes
          ? undefined
          : { type: 'modes.changed', data: { name, change, modes, ...life } };
      }
      case 'record members': {
        const { action, nicks, reason, cause = 'request' } = command;
        if (nicks.length === 0) return undefined;
        const of = cause === 'request' ? {} : { cause };
        return { type: 'members.changed', data: { name, action, nicks, reason, ...of, ...life } };
      }
      case 'invite': {
        const { nicks, event_seq } = command;
        if (!mayInvite(state, command) || nicks.length === 0) return undefined;
        return { type: 'members.invited', data: { name, nicks, event_seq, ...life } };
      }
      case 'archive': {
        if (state.status === 'archived' || isActedUpon(command, state)) return undefined;
        const { deleteAfterMs, cause, event_seq } = command;
        const reason = shortLine(command.reason);
        const delete_after = new Date(now.getTime() + deleteAfterMs).toISOString();
        const data = { name, reason, delete_after, cause, ...(event_seq ? { event_seq } : {}), ...life };
        return { type: 'channel.archived', data };
      }
      case 'delete': {
        const { cause } = command;
        if (command.life !== undefined && command.life !== state.life)
          throw new Refusal('managed_channel_not_found');
        // an archived channel is deleted when its time is over; the caller may have read that time a while
        // ago
        const isDue = state.archived && Date.parse(state.archived.delete_after) <= now.getTime();
        if (cause === 'lifecycle' && !isDue) return undefined;
        return { type: 'channel.deleted', data: { name, cause, ...life } };
      }
    }
  },
};

/** Bytes of a topic or a reason: every server keeps so many, and they fit on one line after any prefix. */
const shortBytes = 300;

/** A topic, or why somebody is removed, as it can be shown: one clean line of at most 300 bytes. */
export function shortLine(text: string): string {
  return cutToBytes(cleanText(text), shortBytes);
}

/**
 * Topic and modes of an archived channel: only those with voice speak, and the topic says that it is
 * archived.
 */
export function archivedLook(
  before: { modes: string },
  { reason, cause }: { reason: string; cause: ChannelCause },
): { modes: string; topic: string } {
  const topic = shortLine(cause === 'lifecycle' ? '[ARCHIVED]' : `[ARCHIVED] ${reason}`);
  return { modes: changedModes(before.modes, '+m'), topic };
}

/** The nicks that are not among the others. Nicks are compared as the network compares them. */
export function withoutNicks(nicks: readonly string[], others: readonly string[]): string[] {
  const gone = new Set(others.map(casefold));
  return nicks.filter((nick) => !gone.has(casefold(nick)));
}

/**
 * The nicks, and those of the others that are not among them yet. Nicks are compared as the network compares
 * them.
 */
export function withNicks(nicks: readonly string[], others: readonly string[]): string[] {
  return [...nicks, ...withoutNicks(others, nicks)];
}

/** Whether an event may still invite people to a channel: not to an archived one, and not a second time. */
export function mayInvite(state: Readonly<ChannelState>, event: { event_seq: number }): boolean {
  return state.status === 'active' && !isActedUpon(event, state);
}

/** Whether this event, or a later one, was acted upon already. */
export function isActedUpon(
  { event_seq }: { event_seq?: number | undefined },
  state: Readonly<ChannelState>,
): boolean {
  return event_seq !== undefined && event_seq <= state.event_seq;
}

function checkedModes(text: string): string {
  if (parseModes(text) === undefined) throw invalid('modes', 'modes must be a mode string like +nt');
  return text.trim().replace(/ +/g, ' ');
}

function invalid(path: string, message: string): Refusal {
  return new Refusal('validation_failed', message, { details: [{ path, message }] });
}

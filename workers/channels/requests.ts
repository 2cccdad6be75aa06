import type { ChannelCause, ChannelType, MemberAction } from '../../streams/channels/index.js';

/** Who asks. */
export interface Asker {
  /** A key's name, or the part of this service that acts by itself. */
  by: string;
  /** Id of the request or fact that led to it. */
  cause_id?: string | null;
}

/** The contract's creation of a channel; the caller has checked its form. */
export interface CreateChannel {
  name: string;
  type: ChannelType;
  modes: string;
  topic: string;
  invite_list: string[];
  metadata: Record<string, unknown>;
  cause: ChannelCause;
  /** Sequence of the market event that wants it: the same event twice opens one channel. */
  event_seq?: number;
}

/** Invites people to an existing channel, because a later market event wants them in it. */
export interface InviteMembers {
  name: string;
  nicks: string[];
  /** Sequence of that event: it invites them once. */
  event_seq: number;
  /**
   * Modes that the channel gets in addition to its own. If they close the room, it is for nobody else any
   * more.
   */
  modes?: string;
}

/** The contract's patch; `modes` is a list of mode strings. */
export interface UpdateChannel {
  name: string;
  topic?: string | undefined;
  modes: string[];
  voice: string[];
  devoice: string[];
  op: string[];
  deop: string[];
}

/** The contract's archiving and deletion. */
export interface RemoveChannel {
  name: string;
  reason: string;
  immediate: boolean;
  cause: ChannelCause;
  event_seq?: number;
}

/** The contract's member operation. */
export interface ChangeMembers {
  name: string;
  action: MemberAction;
  nicks: string[];
  reason: string;
  /** Only requests, the default, count against the hourly limit. */
  cause?: ChannelCause;
  /** Who is meant: somebody else who has the nick is not brought in, and is told so. */
  holder?: Holder | null;
}

/** Who has a nick on the network: the account with the nick service, if any, and `user@host`. */
export interface Holder {
  account: string | null;
  host: string;
}

/** Sequence of the last fact in the channels' stream that records what was done. */
interface Done {
  seq: number;
}

/** What was created. `failed_invites` are nicks that are not in it; those offline are still awaited. */
export interface CreatedChannel extends Done, Pick<CreateChannel, 'name' | 'type' | 'modes' | 'topic'> {
  created: true;
  invited: string[];
  failed_invites: string[];
}

/** Who was invited: those who are in the channel, and those who are not; those offline are awaited. */
export type InvitedMembers = Pick<CreatedChannel, 'name' | 'invited' | 'failed_invites' | 'seq'>;

/**
 * What was changed. `topic` is as it was set, if that is not what was asked for. `failed` has the nicks of the patch that could
 * not be changed, and why.
 */
export interface UpdatedChannel extends Done {
  name: string;
  topic?: string;
  failed: Record<string, string>;
}

/** What became of the channel; `delete_after` is ISO 8601. */
export type RemovedChannel = Done & { name: string } & (
    | { is: 'deleted' }
    | { is: 'archived'; archive_reason: string; delete_after: string }
  );

/** The nicks that were changed, and for the others why not. */
export interface ChangedMembers extends Done {
  action: MemberAction;
  successful: string[];
  failed: Record<string, string>;
}

/** Asks who is in a channel besides our bots. */
export interface LookInside {
  name: string;
  /** Also ask which of them may be somebody else: this asks the network about each. */
  isStandingAsked: boolean;
}

/**
 * Who is in a channel besides our bots. `unproven`: their nick is registered or linked, and they are not
 * identified.
 */
export interface PresentMembers {
  nicks: string[];
  unproven: string[];
}

/** The commands of the channel service, the same in every process. */
export interface Channels {
  create(request: CreateChannel, asker: Asker): Promise<CreatedChannel>;
  invite(request: InviteMembers, asker: Asker): Promise<InvitedMembers>;
  update(request: UpdateChannel, asker: Asker): Promise<UpdatedChannel>;
  remove(request: RemoveChannel, asker: Asker): Promise<RemovedChannel>;
  members(request: ChangeMembers, asker: Asker): Promise<ChangedMembers>;
  present(request: LookInside, asker: Asker): Promise<PresentMembers>;
}

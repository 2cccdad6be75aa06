/** An action of moderation against somebody in a channel, managed or not. */
export interface Enforcement {
  act: 'notice' | 'quiet' | 'unquiet' | 'kick' | 'ban' | 'unban';
  channel: string;
  nick: string;
  /**
   * Their `user@host` when they were seen. Somebody else who has the nick by now is left alone, and they are
   * found under another nick.
   */
  host?: string | undefined;
  /** The account they were identified with; absent if they were not. */
  account?: string | undefined;
  /** Nicks that no mask may hit: those of our bots, which may share the host. */
  sparing?: readonly string[] | undefined;
  /** Nobody else of their host is meant: a user who is not identified is quieted by user and host. */
  thisUser?: true | undefined;
  /** What they are told, or the reason of a kick. */
  text: string;
  /** To lift: the mask that was set; absent if only voice was taken. */
  mask?: string | undefined;
  /**
   * To lift what may have been set, if nobody knows the mask: the one that it would have is lifted, unless it is among
   * these, which are in force.
   */
  unless?: readonly string[] | undefined;
  /** When a mute is lifted: whether voice was taken besides the mask, and must be given back. */
  voice?: boolean | undefined;
}

/**
 * What came of it, as the network says. `mask` is what was set, `voice` whether voice was taken besides it.
 * Without a mask, only voice was taken.
 */
export type Enforced =
  | { is: 'done'; mask?: string; voice?: true }
  | { is: 'spared' }
  | { is: 'failed'; error: string };

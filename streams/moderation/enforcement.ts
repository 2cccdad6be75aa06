/** What is to be done about somebody in a channel, managed or not. */
export interface Enforcement {
  act: 'notice' | 'quiet' | 'unquiet' | 'kick' | 'ban' | 'unban';
  channel: string;
  nick: string;
  /** `user@host` they were seen under: somebody else who has the nick by now is left alone, and they are found under another. */
  host?: string | undefined;
  /** Account they were identified with; absent where they were not. */
  account?: string | undefined;
  /** Nicks that no mask may hit: those of our bots, which may come from the same host. */
  sparing?: readonly string[] | undefined;
  /** Nobody else of their host is meant: somebody who is not identified is kept from speaking by user and host. */
  thisUser?: true | undefined;
  /** What they are told, or the reason that a kick gives. */
  text: string;
  /** For what is taken back: the mask that was set; absent where only a voice was taken. */
  mask?: string | undefined;
  /** For what is taken back: a voice was taken beside the mask. */
  voice?: boolean | undefined;
}

/**
 * What came of it, by the word of the network. `mask` is what was set, `voice` whether a voice was taken beside it; without
 * a mask only a voice was.
 */
export type Enforced =
  | { is: 'done'; mask?: string; voice?: true }
  | { is: 'spared' }
  | { is: 'failed'; error: string };

/** How a nick became somebody's: by asking for it, or by ending the session that had it. */
export type Claimed = 'taken' | 'freed';

/**
 * What an IRC operator on the same network does for a connection that is not one. Each rejects with `Unavailable` while
 * nobody can be asked, and answers `false` where nobody has the power.
 */
export interface Hands {
  /**
   * Ends another session that has the nick, and gives the nick to the session that is called `session` now. Answers
   * whether there was another.
   */
  giveNick(wanted: { session: string; nick: string }): Promise<Claimed | false>;
  /** Puts a nick into channels, whatever keeps it out. */
  letIn(wanted: { nick: string; channels: readonly string[] }): Promise<boolean>;
  /** Lets a nick speak in a channel under +m; one that it has made also gets the modes of our channels. */
  letSpeak(wanted: { nick: string; channel: string; isNew: boolean }): Promise<boolean>;
}

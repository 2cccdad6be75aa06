/**
 * A decider holds the rules of one consistency boundary. It is pure: the time is an argument, and ids and
 * all else it needs come in the command. The subject of a command is the boundary: every fact that `decide`
 * must see lies on it, and the log refuses an append when somebody else was faster.
 */
export interface Decider<State, Command, Fact> {
  initial(): State;
  subject(command: Command): string;
  /**
   * Folds one fact into the state, in place, with its sequence where it is on the log. Must accept every fact ever
   * recorded on the subject.
   */
  evolve(state: State, fact: Fact, seq?: number): void;
  /** At most one fact; `undefined` when nothing has to change. Throws `Refusal` when the answer is no. */
  decide(command: Command, state: Readonly<State>, now: Date): Fact | undefined;
}

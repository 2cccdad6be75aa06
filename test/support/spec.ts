import type { Test } from 'tap';
import type { AnyFact, Decider } from '../../streams/core/index.js';

/** Given what was recorded, when this is commanded, then that is decided. */
export function specification<State, Command, Fact extends AnyFact>(decider: Decider<State, Command, Fact>) {
  return {
    /** `prepare` changes the initial state, for deciders that start from another stream's fact. */
    given(facts: Fact[], prepare: (state: State) => State = (state) => state) {
      const state = prepare(decider.initial());
      for (const fact of facts) decider.evolve(state, fact);
      return {
        when(command: Command, now = new Date('2026-01-01T12:00:00Z')) {
          const decide = () => decider.decide(command, state, now);
          return {
            decides(t: Test, expected: Fact | undefined, message = 'decided as expected') {
              t.same(decide(), expected, message);
            },
            refuses(t: Test, code: string, message = 'refused as expected') {
              t.throws(decide, { code }, message);
            },
          };
        },
      };
    },
  };
}

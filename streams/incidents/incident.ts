import { type Decider, Refusal } from '../core/index.js';
import { casefold } from '../irc-grammar.js';
import { noVotes, statusOf, type Tally, withScore } from './consensus.js';
import { type IncidentFact, type IncidentReport, incidentSubject, type Vote } from './facts.js';

/** What is known about one incident. */
export interface IncidentState {
  isReported: boolean;
  tally: Tally;
  /** Casefolded nicks of those who voted. */
  voters: Set<string>;
}

/** What can be asked for one incident. */
export type IncidentCommand = ({ is: 'report' } & IncidentReport) | ({ is: 'vote' } & Vote);

/** An incident is reported once; everybody has one vote, and each vote says what the status is with it. */
export const incidentDecider: Decider<IncidentState, IncidentCommand, IncidentFact> = {
  initial: () => ({ isReported: false, tally: noVotes(), voters: new Set() }),

  subject: ({ id }) => incidentSubject(id),

  evolve(state, { type, data }) {
    if (type === 'incident.reported') {
      state.isReported = true;
      return;
    }
    state.tally = withScore(state.tally, data.score);
    state.voters.add(casefold(data.voter));
  },

  decide(command, { isReported, tally, voters }) {
    if (command.is === 'report') {
      if (isReported) throw new Refusal('incident_exists');
      const { is: _, ...data } = command;
      return { type: 'incident.reported', data };
    }
    if (!isReported) throw new Refusal('not_found', 'Incident not found');
    const { is: _, ...vote } = command;
    if (voters.has(casefold(vote.voter)))
      throw new Refusal('already_voted', `${vote.voter} has voted on this incident already`);
    return { type: 'vote.cast', data: { ...vote, status: statusOf(withScore(tally, vote.score)) } };
  },
};

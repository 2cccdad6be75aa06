import { type Decider, Refusal } from '../core/index.js';
import { casefold } from '../irc-grammar.js';
import { noVotes, statusOf, type Tally, withScore } from './consensus.js';
import { type IncidentFact, type IncidentReport, incidentSubject, type Vote } from './facts.js';

/** What is known about one incident. */
export interface IncidentState {
  isReported: boolean;
  tally: Tally;
  /** Casefolded nick of the reporter, and their wallet if it is known. */
  reporter: { nick: string; person: string | undefined } | undefined;
  /** Casefolded nicks of those who voted. */
  voters: Set<string>;
  /** The wallets of those voters, if they are known. */
  people: Set<string>;
}

/** What can be asked for one incident. */
export type IncidentCommand =
  | ({ is: 'report' } & IncidentReport)
  | ({
      is: 'vote';
      /** Whether the voter acts in person, rather than an operator in the voter's name. */
      own?: boolean;
    } & Vote);

/**
 * An incident is reported once. Everybody has one vote, even if their wallet has another nick by then. Nobody
 * votes on their own report. Each vote says what the status is with it.
 */
export const incidentDecider: Decider<IncidentState, IncidentCommand, IncidentFact> = {
  initial: () => ({
    isReported: false,
    reporter: undefined,
    tally: noVotes(),
    voters: new Set(),
    people: new Set(),
  }),

  subject: ({ id }) => incidentSubject(id),

  evolve(state, { type, data }) {
    if (type === 'incident.reported') {
      state.isReported = true;
      state.reporter = { nick: casefold(data.reporter), person: data.person };
      return;
    }
    state.tally = withScore(state.tally, data.score, data.stands);
    state.voters.add(casefold(data.voter));
    if (data.person !== undefined) state.people.add(data.person);
  },

  decide(command, { isReported, reporter, tally, voters, people }) {
    if (command.is === 'report') {
      if (isReported) throw new Refusal('incident_exists');
      const { is: _, ...data } = command;
      return { type: 'incident.reported', data };
    }
    if (!isReported) throw new Refusal('incident_not_found');
    const { is: _, own = false, ...vote } = command;
    const { person } = vote;
    const isReporter = casefold(vote.voter) === reporter?.nick;
    if (own && (isReporter || (person !== undefined && person === reporter?.person)))
      throw new Refusal('own_incident');
    if (voters.has(casefold(vote.voter)) || (person !== undefined && people.has(person)))
      throw new Refusal('already_voted', `${vote.voter} has voted on this incident already`);
    const status = statusOf(withScore(tally, vote.score, vote.stands));
    return { type: 'vote.cast', data: { ...vote, status } };
  },
};

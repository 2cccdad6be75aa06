export {
  isDecided,
  meanOf,
  minVotes,
  noVotes,
  statusOf,
  type Tally,
  thresholds,
  withScore,
} from './consensus.js';
export {
  type ContributionType,
  contributionTypes,
  type IncidentFact,
  type IncidentReport,
  type IncidentStatus,
  incidentStatuses,
  incidentSubject,
  incidents,
  isIncidentId,
  type Severity,
  severities,
  type Vote,
} from './facts.js';
export { type IncidentCommand, type IncidentState, incidentDecider } from './incident.js';

import { getCertificateStatus } from './certificates.js';
import { reportSecurityIncident, voteOnSecurityIncident } from './commands.js';
import {
  getConsensus,
  getSecurityHealth,
  getSecurityIncident,
  getSecurityStatistics,
  listContributions,
  listSecurityIncidents,
} from './reads.js';

/** Security incidents and what the voters make of them. */
export const incidentsOperations = [
  listSecurityIncidents,
  reportSecurityIncident,
  getSecurityIncident,
  voteOnSecurityIncident,
  getConsensus,
  getSecurityStatistics,
  listContributions,
  getCertificateStatus,
  getSecurityHealth,
];

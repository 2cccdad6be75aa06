import type { About } from '../core/projection.js';

/** What people are told of the tables of security incidents. */
export const aboutIncidents: About = {
  incidents: {
    says: 'Security incidents with the sums of their votes.',
    columns: {
      id: 'Id of the incident.',
      n: 'Sequence of its report in the stream INCIDENTS.',
      title: 'Title.',
      severity: 'From SEV-1, the worst, to SEV-4.',
      category: 'Category, if any.',
      affected: 'What is affected.',
      description: 'What happened.',
      fixes: 'What helps.',
      source_posts: 'Where it was told of.',
      advisory_urls: 'Addresses of advisories.',
      reporter: 'Who reported it.',
      created_at: 'When.',
      status: 'One of pending, validated, disputed or false_positive.',
      votes: 'How many votes.',
      sum: 'Sum of the scores of voters with a voucher.',
      lowest: 'Lowest of these scores.',
      highest: 'Highest of these scores.',
      plain: 'Votes of the others, who count as one voice.',
      hearsay: 'Sum of their scores.',
      rejecting: 'Votes that would reject it.',
      validating: 'Votes that would validate it.',
    },
    json: ['affected', 'fixes', 'source_posts', 'advisory_urls'],
  },
  votes: {
    says: 'Votes on incidents: one for each voter.',
    columns: {
      incident: 'Id of the incident.',
      voter: 'Nick under the key by which nicks are compared.',
      n: 'Sequence of the vote in the stream INCIDENTS.',
      nick: 'Nick as it is written.',
      score: 'From 0 to 100.',
      contribution_type: 'What kind of contribution it is.',
      evidence_url: 'Address of what proves it.',
      comment: 'What the voter says.',
      created_at: 'When.',
    },
  },
  participants: {
    says: 'Who reported or voted.',
    columns: {
      nick: 'Nick under the key by which nicks are compared.',
      votes: 'How often.',
    },
  },
  counts: {
    says: 'How many incidents have a status and a severity.',
    columns: {
      status: 'As in incidents.',
      severity: 'As in incidents.',
      incidents: 'Incidents with both now.',
    },
  },
  totals: {
    says: 'Counts over all incidents, in one row.',
    columns: {
      votes: 'Votes.',
      participants: 'Those who reported or voted.',
    },
  },
  certificates: {
    says: 'Certificates of TLS endpoints, as they were seen last.',
    columns: {
      host: 'Host in lower case.',
      port: 'Port.',
      issuer: 'Who issued it.',
      subject: 'Who it is for.',
      valid_from: 'From when it is good.',
      valid_to: 'Until when it is good.',
      distrust: 'Why clients would not accept it; null if they would.',
      error: 'Why it was not seen the last time.',
      checked_at: 'When that was last recorded.',
    },
  },
};

/** Security incidents and the consensus on them; certificates of TLS endpoints. */
export const sentinel = {
  'SENTINEL-01':
    'An incident is reported with its fields and pending; what is wrong in a report answers 400.',
  'SENTINEL-02':
    'Everybody has one vote on an incident, however the nick is spelled; a second one answers 409.',
  'SENTINEL-03': 'Below three votes an incident is pending.',
  'SENTINEL-04':
    'From three votes on the spread and the mean of the scores decide, anew with each vote, and each vote says so.',
  'SENTINEL-05': 'Incidents are listed newest first, by status and severity, at most 100, with their total.',
  'SENTINEL-06':
    'An incident is shown with its consensus and the contributions to it; an unknown one answers 404.',
  'SENTINEL-07': 'The consensus tells votes, average score and whether the threshold is met.',
  'SENTINEL-08': 'The contributions of a nick come with their incidents.',
  'SENTINEL-09': 'The statistics count incidents, votes, contributions and subscribers.',
  'SENTINEL-10': 'Who reports or votes needs an API key, whose name is recorded; reads are open.',
  'SENTINEL-11': 'Under 200 concurrent votes in two processes everybody still has one, and none is lost.',
  'SENTINEL-12': 'The read model is the same in whatever batches and order of streams it is folded.',
  'SENTINEL-13': 'A security service elsewhere is asked there, and named when it cannot be reached.',
  'SENTINEL-14': 'Health tells whether the service can answer.',
  'SENTINEL-15':
    'One vote a person, whatever nicks its wallet has had; none on what one has reported; links have an age before they vote.',
  'SENTINEL-16':
    'Own votes of those for whom nobody stands count together as one voice, whose score is their mean.',
  'SENTINEL-17':
    'Free text of reports and votes that looks like an attack is withheld, by route and by tool, wherever in it the attack is, and also if it is spread over fields.',
  'SENTINEL-18':
    'One person makes at most 10 reports an hour, with whatever key, by route and by tool: 429 with the time to wait. Operators are not counted.',
  'CERT-01': 'The certificate of each configured endpoint is looked at by a real handshake and recorded.',
  'CERT-02': 'An expiry that comes nearer passes the alert tiers of 30, 14, 7, 3 and 0 days.',
  'CERT-03': 'An endpoint that cannot be reached says so, and what it last showed stays known.',
  'CERT-04': 'What is found is recorded when it changed, and once a day.',
  'CERT-05': 'One process looks, and none where no endpoint is configured.',
} as const;

/** Agents that register a nickname by a public post. */
export const verification = {
  'AGENT-01': 'A challenge is a text for one nickname and one handle, to be posted within 30 minutes.',
  'AGENT-02': 'A nickname that is registered answers 409 to a new challenge, however it is spelled.',
  'AGENT-03': 'Asked for again a challenge keeps its text, and nobody can spoil the challenge of another.',
  'AGENT-04':
    'A verification without a challenge answers 404, one that comes too late 410, one that was overtaken 409.',
  'AGENT-05': 'The post must be by the handle, and show the text; else the verification answers 400.',
  'AGENT-06': 'What is wrong in a body answers 400 and names the field.',
  'AGENT-07': 'Only addresses of posts on the social network are accepted, over https and in one form.',
  'AGENT-08': 'Only the oEmbed endpoint is asked; redirects are not followed.',
  'AGENT-09':
    'An endpoint that is away, slow, too talkative or senseless answers 502, and the challenge stays good.',
  'AGENT-10': 'The text of a post is what its HTML shows.',
  'AGENT-11': 'An agent is shown and listed as registered, without its e-mail address.',
  'AGENT-12': 'Of 200 concurrent verifications of one nickname in two processes one succeeds.',
  'AGENT-13': 'The read model is the same in whatever batches it is folded.',
  'AGENT-14':
    'A verification service elsewhere is asked below its address, and named when it cannot be reached.',
  'AGENT-16':
    'What nobody has proven is no fact: it is kept for an hour, and bounded by address and by handle, so that who asks for many drives nobody out.',
  'AGENT-17': 'Nicknames of bots, of services and of nicks that are linked while identified answer 409.',
  'AGENT-15': 'Health tells whether the service can answer.',
} as const;

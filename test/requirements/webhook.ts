/** The receiver of the marketplace's signed events. */
export const webhook = {
  'HOOK-01': 'The signature is sha256= and the hex HMAC-SHA256 of the body, keyed with the shared secret.',
  'HOOK-02': 'A signature over the body as JSON libraries re-serialise it is accepted as well.',
  'HOOK-03': 'Any other signature is rejected, compared in constant time, other lengths too.',
  'HOOK-04': 'The timestamp may be at most five minutes from our clock.',
  'HOOK-05': 'Missing, unreadable and stale timestamps have codes of their own.',
  'HOOK-06': 'The signature is checked first.',
  'HOOK-07': 'Several secrets may be valid at a time, so that one can be replaced.',
  'HOOK-08': 'The timestamped scheme is accepted when it is switched on.',
  'HOOK-09': 'A new event answers 202 with its channels and its line, after the log has it.',
  'HOOK-10':
    'A known event_id answers 200 already_processed with its delivery status, for ever and whatever is in the body.',
  'HOOK-11': 'An event whose source is this service is ignored.',
  'HOOK-12': 'A body that is no event answers 400 invalid_event with the path of each bad field.',
  'HOOK-13': 'Without a secret every event answers 503 webhook_secret_not_configured.',
  'HOOK-14':
    'When the log does not acknowledge, the answer is 503 log_unavailable and a repetition is not doubled.',
  'HOOK-15':
    'Statistics count pending, delivered today and dead letters, and agree with what was just posted.',
  'HOOK-16': 'The internal routes of the bridge take events and tell the queue statistics.',
  'HOOK-17': 'Aliases of payload fields are understood.',
  'HOOK-31': 'A new event whose line would show no id answers 400 invalid_event with the path of the field.',
  'HOOK-32':
    'Events of unknown types are shown, ignored or refused as UNKNOWN_EVENTS says, and of their payload only what UNKNOWN_EVENT_FIELDS names.',
  'HOOK-30':
    'A known event_id with another body is answered with a warning, counted, and logged once with its id and without its payload.',
  'HOOK-33': 'A time without a zone is refused with words that say that the zone is missing.',
  'HOOK-34':
    'An event can be tried out: it is checked as always, answered with its channels, its line and what would be withheld, and not stored, counted or shown.',
  'HOOK-35':
    'A producer asks what became of its event, channel by channel, with a signature over the timestamp and the id.',
  'HOOK-36':
    'Each producer of EM_PRODUCERS speaks with its own secret and source only; the first that speaks of a task owns it, and sees its own events.',
  'HOOK-38':
    'The id of an event of another named producer is refused, and the answer says nothing of that event.',
  'HOOK-37':
    'Events of a producer whose name begins with test are shown in channels for tests, and open no room, own no task, rate nobody and are no incident.',
  'HOOK-40':
    'Tasks of before producers had names stay with the producer that spoke of them first, and a refused event makes nobody an owner.',
  'HOOK-41':
    'Where the timestamp is signed with the body and nothing else is taken, the guide for producers and the refusals say so.',
  'HOOK-39':
    'The answer to a stored event has warnings, too: of a field of a wrong type, a misspelt type, a line without its room.',
} as const;

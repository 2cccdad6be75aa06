interface Described {
  /** HTTP status of the answer. */
  status: number;
  /** What it means; also the text of an answer that has no text of its own. */
  says: string;
  /** What the caller can do about it, where that is the same in every case. */
  hint?: string;
  /** The same where answers do not say it: for the list of errors only. */
  advice?: string;
  /** Seconds after which the answer may be another, where that is the same in most cases. */
  retryAfter?: number;
  /** The code that callers see, where two cases of one code have to be told apart here. */
  code?: string;
}

const requests = {
  validation_failed: {
    status: 400,
    says: 'The input is not valid: details names each bad field',
    advice: 'Change each field that `details` names',
  },
  bad_request: {
    status: 400,
    says: 'The request cannot be understood',
    advice: 'Send what the text asks for',
  },
  not_found: {
    status: 404,
    says: 'There is no such thing, or it is not shown to this caller',
    advice: 'Look at the name, and at what the API key may see',
  },
  method_not_allowed: {
    status: 405,
    says: 'This method is not possible here: Allow names those that are',
    advice: 'Use a method of `Allow`',
  },
  request_timeout: {
    status: 408,
    says: 'The request took too long to arrive',
    advice: 'Send the request within 15 seconds',
  },
  payload_too_large: { status: 413, says: 'The body is too large', advice: 'Send less at once' },
  uri_too_long: { status: 414, says: 'A part of the path is too long', advice: 'Send a shorter name' },
  unsupported_media_type: {
    status: 415,
    says: 'Send the body as application/json',
    advice: 'Set Content-Type',
  },
  expectation_failed: {
    status: 417,
    says: 'What Expect asks for is not possible',
    advice: 'Leave Expect out',
  },
  rate_limited: { status: 429, says: 'There were too many requests of this kind' },
  headers_too_large: {
    status: 431,
    says: 'The headers of the request are too large',
    advice: 'Send fewer or shorter headers',
  },
  internal_error: {
    status: 500,
    says: 'Something went wrong on our side',
    advice: 'Tell the operator the `request_id`',
  },
} as const satisfies Record<string, Described>;

const parts = {
  not_ready: { status: 503, says: 'The service is starting: not every part can answer yet', retryAfter: 1 },
  log_unavailable: { status: 503, says: 'The event log cannot be used now', retryAfter: 2 },
  log_contended: { status: 503, says: 'Too many changes of the same thing at once', retryAfter: 1 },
  store_unavailable: { status: 503, says: 'The read store is not available', retryAfter: 2 },
  read_model_building: { status: 503, says: 'The read model is being built', retryAfter: 2 },
  read_model_behind: {
    status: 503,
    says: 'The read model does not show yet what was asked for',
    retryAfter: 1,
  },
  nobody_answers: { status: 503, says: 'No process answers for this part of the service', retryAfter: 2 },
  answer_overdue: {
    status: 503,
    says: 'A part of the service did not answer in time: what was asked may be done all the same',
    retryAfter: 2,
    advice: 'Look whether it was done, then try again',
  },
  irc_unavailable: { status: 503, says: 'IRC not connected or bot not operator', retryAfter: 5 },
  upstream_invalid: {
    status: 502,
    says: 'A part of the service gave an answer that cannot be read',
    retryAfter: 1,
  },
  upstream_unreachable: { status: 502, says: 'A part of the service is unreachable', retryAfter: 1 },
  too_many_viewers: { status: 503, says: 'Too many streams are open', retryAfter: 5 },
  skill_unavailable: { status: 503, says: 'The skill cannot be read now', retryAfter: 60 },
} as const satisfies Record<string, Described>;

const credentials = {
  api_key_required: {
    status: 401,
    says: 'This route needs an API key',
    hint: 'Send it as X-Api-Key, X-Mcp-Api-Key or Authorization: Bearer',
  },
  api_key_invalid: { status: 401, says: 'This API key is not known', advice: 'Ask the operator for a key' },
  api_keys_not_configured: {
    status: 403,
    says: 'This route answers local callers only',
    hint: 'The operator can open it to others by setting API_KEYS or API_KEYS_FILE',
  },
  credential_missing: {
    status: 401,
    says: 'Neither a signature nor a key was sent',
    advice: 'Send an API key, or sign the request (`/auth.md`)',
  },
  api_key_not_configured: {
    status: 401,
    says: 'The service has no keys, and answers callers on its own machine only',
    advice: 'Sign the request: the operator has given out no keys',
  },
  signature_input_invalid: {
    status: 401,
    says: 'Signature and Signature-Input must both be there, readable, and have the label eth',
    advice: 'Sign as `/auth.md` says',
  },
  wallet_invalid: {
    status: 401,
    says: 'The keyid must be erc8128:<chain id>:<0x address>',
    advice: 'Sign as `/auth.md` says',
  },
  wallet_mismatch: {
    status: 401,
    says: 'The signature is not one of the wallet in the keyid over this request',
    advice: 'Sign this request with the wallet of the keyid',
  },
  signature_stale: {
    status: 401,
    says: 'The signature is from another time, or is to hold for more than 300 seconds',
    advice: 'Look at the clock, and sign again',
  },
  nonce_required: {
    status: 401,
    says: 'The signature has no nonce',
    hint: 'Get a new nonce for each request',
  },
  nonce_unknown: {
    status: 401,
    says: 'The nonce was not issued here',
    hint: 'Get a new nonce for each request',
  },
  nonce_replayed: { status: 401, says: 'The nonce has been used', hint: 'Get a new nonce for each request' },
  nonce_expired: {
    status: 401,
    says: 'The nonce is older than 300 seconds',
    hint: 'Get a new nonce for each request',
  },
  components_invalid: {
    status: 401,
    says: 'The signature does not cover what it must, or covers what this request does not have',
    advice: 'Cover what `Accept-Signature` names',
  },
  class_bound_rejected: {
    status: 401,
    says: 'The signature is for a class of requests; it must be for this one',
    advice: 'Cover @method and @path',
  },
  content_digest_required: {
    status: 401,
    says: 'The signature covers content-digest, and the request has no Content-Digest',
    advice: 'Send Content-Digest',
  },
  content_digest_mismatch: {
    status: 401,
    says: 'Content-Digest is not the SHA-256 digest of the body',
    advice: 'Compute the digest over the bytes that are sent',
  },
  signature_invalid: {
    status: 401,
    says: 'The signature is not one that a wallet makes',
    advice: 'Sign as `/auth.md` says',
  },
  alg_unsupported: {
    status: 401,
    says: 'The signature must be made with eip191 (personal_sign)',
    advice: 'Leave alg out, or say eip191',
  },
  chain_not_allowed: {
    status: 401,
    says: 'The wallet must be one of chain 8453',
    advice: 'Use a keyid that begins with `erc8128:8453:`',
  },
  nonce_rate_limited: { status: 429, says: 'This address asked for too many nonces' },
  nonce_capacity: {
    status: 429,
    says: 'Too many nonces have been issued and not been used',
    retryAfter: 10,
  },
  nonce_store_unavailable: {
    status: 503,
    says: 'Nonces can be neither issued nor used now',
    retryAfter: 2,
  },
  wallet_not_verified: {
    status: 403,
    says: 'The link of the nick with its wallet is not verified',
    hint: 'Link over IRC while identified with the nick service, and answer the challenge',
  },
  wallet_not_of_nick: {
    status: 403,
    says: 'The wallet that signed is not the one of the nick',
    advice: 'Sign with the wallet that is linked to the nick',
  },
} as const satisfies Record<string, Described>;

const agents = {
  host_not_allowed: {
    status: 403,
    says: 'This host or origin may not call the tools',
    advice: 'The operator can allow it in `ALLOWED_ORIGINS`',
  },
  parse_error: { status: 400, says: 'The body is not JSON', advice: 'Send JSON' },
  invalid_request: {
    status: 400,
    says: 'The body is no JSON-RPC 2.0 message',
    hint: 'A request has jsonrpc "2.0", a method, an id that is text or a whole number, and params that are an object',
  },
} as const satisfies Record<string, Described>;

const events = {
  invalid_event: {
    status: 400,
    says: 'The body is not an event as the marketplace sends them',
    advice: 'Send an event with the fields that the contract names',
  },
  signature_missing: { status: 401, says: 'X-EM-Signature is missing', advice: 'Sign the body' },
  event_signature_invalid: {
    status: 401,
    code: 'signature_invalid',
    says: 'X-EM-Signature does not match the body',
    advice: 'Sign the bytes that are sent, with the shared secret',
  },
  timestamp_missing: { status: 401, says: 'X-EM-Timestamp is missing', advice: 'Send it' },
  timestamp_invalid: {
    status: 401,
    says: 'X-EM-Timestamp is not an ISO 8601 time',
    advice: 'Send a time such as 2026-01-31T12:00:00Z',
  },
  timestamp_stale: {
    status: 401,
    says: 'X-EM-Timestamp is more than 5 minutes from our clock',
    advice: 'Look at the clock, and send the event again',
  },
  webhook_secret_not_configured: {
    status: 503,
    says: 'EM_WEBHOOK_SECRET is not set on this service',
    retryAfter: 60,
    advice: 'The operator has to set it',
  },
} as const satisfies Record<string, Described>;

const delivery = {
  not_dead_lettered: {
    status: 409,
    says: 'The event is not a dead letter (any more)',
    advice: 'Nothing: it is delivered, or will be',
  },
  not_delivered: {
    status: 409,
    says: 'The event has not been delivered',
    hint: 'Dead letters and expired events are redriven; pending ones are shown without help.',
  },
  no_such_channel: {
    status: 409,
    says: 'The event does not go to this channel',
    advice: 'Name channels of the event',
  },
} as const satisfies Record<string, Described>;

const channels = {
  channel_exists: { status: 409, says: 'Channel already exists', advice: 'Take another name' },
  channel_reserved: {
    status: 409,
    says: 'This channel is always there and cannot be managed',
    advice: 'Use another channel',
  },
  refused_by_network: {
    status: 409,
    says: 'The IRC network does not do it',
    advice: 'The text has the words of the IRC server',
  },
  type_limit_reached: {
    status: 429,
    says: 'There are as many channels of this type as there may be',
    advice: 'Delete a channel of this type first',
  },
} as const satisfies Record<string, Described>;

const identity = {
  already_verified: { status: 409, says: 'Identity already verified', advice: 'Nothing: it is done' },
  challenge_missing: {
    status: 400,
    says: 'No active challenge',
    hint: 'Ask for a challenge and sign that one',
  },
  challenge_expired: { status: 410, says: 'Challenge expired', advice: 'Ask for a new challenge' },
  challenge_signature_invalid: {
    status: 400,
    code: 'signature_invalid',
    says: 'Invalid signature',
    advice: 'Sign the text of the challenge with personal_sign: 0x and 130 hexadecimal digits',
  },
  challenge_wallet_mismatch: {
    status: 401,
    code: 'wallet_mismatch',
    says: 'Signature does not match the linked wallet',
    advice: 'Sign with the wallet that is linked',
  },
  nick_linked: { status: 409, says: 'Nick already linked', advice: 'Unlink the nick first' },
  wallet_linked: { status: 409, says: 'Wallet already linked', advice: 'Unlink the wallet first' },
  nick_not_linked: { status: 404, says: 'No nick linked', advice: 'Link the wallet with a nick' },
  wallet_not_linked: { status: 404, says: 'No wallet linked', advice: 'Link the nick with a wallet' },
} as const satisfies Record<string, Described>;

const verification = {
  no_pending_verification: {
    status: 404,
    says: 'There is no pending verification',
    advice: 'Ask for a challenge first',
  },
  verification_expired: {
    status: 410,
    says: 'The verification has expired: ask for a new challenge',
    advice: 'Ask for a new challenge',
  },
  verification_failed: {
    status: 400,
    says: 'The post does not prove the account',
    advice: 'Post the text of the challenge from the account that is to be verified',
  },
  nickname_taken: {
    status: 409,
    says: 'This nickname is registered already',
    advice: 'Take another nickname',
  },
  post_not_found: {
    status: 400,
    says: 'There is no such public post',
    advice: 'Give the address of a post that everybody can see',
  },
  post_url_invalid: {
    status: 400,
    says: 'The address is not one of a post',
    advice: 'Give the address of the post itself',
  },
  social_unreachable: {
    status: 502,
    says: 'The social network does not answer: try again later',
    retryAfter: 5,
  },
} as const satisfies Record<string, Described>;

const opinions = {
  incident_exists: {
    status: 409,
    says: 'There is an incident with this id',
    advice: 'Send it again: it gets another id',
  },
  already_voted: {
    status: 409,
    says: 'This voter has voted on the incident already',
    advice: 'Nothing: each voter votes once',
  },
  self_feedback: { status: 400, says: 'Nobody rates themselves', advice: 'Rate somebody else' },
} as const satisfies Record<string, Described>;

const payments = {
  payment_required: {
    status: 402,
    says: 'Payment required',
    advice: 'Pay in one of the ways that `accepts` lists',
  },
  payment_header_invalid: {
    status: 400,
    says: 'The payment header is no x402 payment',
    hint: 'Send the base64 of the JSON payment payload as PAYMENT-SIGNATURE, or as X-PAYMENT',
  },
  payment_mismatch: {
    status: 402,
    says: 'The payment is for none of the ways to pay for this channel',
    advice: 'Pay in one of the ways that `accepts` lists',
  },
  payment_invalid: {
    status: 402,
    says: 'The facilitator finds the payment invalid',
    advice: 'Sign a new payment: the text has the words of the facilitator',
  },
  payment_spent: { status: 402, says: 'The payment has been used', hint: 'Sign a new payment' },
  settlement_failed: {
    status: 402,
    says: 'The payment was not settled',
    advice: 'Sign a new payment: the text has the words of the facilitator',
  },
  settlement_unknown: {
    status: 502,
    says: 'It is not known whether the payment was settled',
    hint: 'Present the same payment again: it is not charged twice. A new payment would be a second one',
    retryAfter: 5,
  },
  payment_in_progress: {
    status: 409,
    says: 'Another payment for this nick is under way',
    hint: 'Present that payment again to learn what came of it',
  },
  session_active: {
    status: 409,
    says: 'This nick has a session in the channel',
    advice: 'Wait until the session ends',
  },
  channel_full: { status: 503, says: 'The channel is full', hint: 'Try again later' },
  nick_not_on_irc: {
    status: 400,
    says: 'Nick not connected to IRC',
    hint: 'Connect to the network under this nick first: nothing was paid',
  },
  payments_not_configured: {
    status: 503,
    says: 'Payments for this channel are not configured',
    retryAfter: 60,
    advice: 'The operator has to set how payments are taken',
  },
  facilitator_unreachable: {
    status: 502,
    says: 'The payment facilitator is unreachable',
    retryAfter: 5,
  },
} as const satisfies Record<string, Described>;

const marketplace = {
  marketplace_not_configured: {
    status: 503,
    says: 'The task marketplace is not configured',
    hint: 'The operator has not set EM_URL, the address of the task marketplace',
  },
  marketplace_unreachable: {
    status: 502,
    says: 'The task marketplace is unreachable',
    retryAfter: 5,
    advice: 'A read: try again. A write may be done: look at the task first, and send an Idempotency-Key',
  },
  marketplace_timeout: {
    status: 502,
    says: 'The task marketplace did not answer in time',
    retryAfter: 5,
    advice: 'A read: try again. A write may be done: look at the task first, and send an Idempotency-Key',
  },
  marketplace_invalid: {
    status: 502,
    says: 'The task marketplace gave an answer that cannot be passed on',
    retryAfter: 5,
    advice: 'A read: try again. A write may be done: look at the task first, and send an Idempotency-Key',
  },
  marketplace_failed: { status: 502, says: 'The task marketplace did not give its tasks', retryAfter: 1 },
} as const satisfies Record<string, Described>;

const deliberation = {
  models_not_configured: {
    status: 503,
    says: 'No model is configured',
    hint: 'The operator names a file of models in MODELS',
  },
  query_exists: {
    status: 409,
    says: 'There is a query with this id',
    advice: 'Send it again: it gets another id',
  },
  query_closed: {
    status: 409,
    says: 'No model is asked any more: the context would reach none',
    advice: 'Create a new query',
  },
  too_many_injections: {
    status: 409,
    says: 'The query has taken as many contexts as it may',
    advice: 'Create a new query',
  },
  not_owner: {
    status: 403,
    says: 'Only the key that created the query may change who sees it',
    advice: 'Use the key that created the query',
  },
} as const satisfies Record<string, Described>;

const operation = {
  not_halted: {
    status: 409,
    says: 'The read model has not halted at this fact',
    advice: '`GET /ops/projections` says where it has halted',
  },
  ahead_of_log: {
    status: 409,
    says: 'The read model is ahead of the event log: skipping a fact does not help',
    advice: 'Rebuild the read model',
  },
} as const satisfies Record<string, Described>;

/** Every way in which the service says no, by area. Codes are for programs and do not change. */
export const refusalAreas = {
  Requests: requests,
  'Parts of the service': parts,
  Credentials: credentials,
  'Doors for agents': agents,
  Events: events,
  Delivery: delivery,
  Channels: channels,
  Identity: identity,
  Verification: verification,
  'Incidents and feedback': opinions,
  Payments: payments,
  'Task marketplace': marketplace,
  Deliberation: deliberation,
  Operation: operation,
};

const all = {
  ...requests,
  ...parts,
  ...credentials,
  ...agents,
  ...events,
  ...delivery,
  ...channels,
  ...identity,
  ...verification,
  ...opinions,
  ...payments,
  ...marketplace,
  ...deliberation,
  ...operation,
};

/** Name of a refusal: the code that callers see, but for the few that share one. */
export type RefusalCode = keyof typeof all;

/** The catalogue of refusals, by name. */
export const refusals: Readonly<Record<RefusalCode, Readonly<Described>>> = all;

/** A way in which the service says no. */
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

const refusal = (status: number, says: string, more: Omit<Described, 'status' | 'says'> = {}): Described => ({
  status,
  says,
  ...more,
});

/** What somebody asked for is not there, or not shown to them. */
const absent = (says: string, more: { hint: string }): Described =>
  refusal(404, says, { code: 'not_found', ...more });

/** Every way in which the service says no, by area. Codes are for programs and do not change. */
export const refusalAreas = {
  Requests: {
    validation_failed: refusal(400, 'The input is not valid: details names each bad field', {
      advice: 'Change each field that `details` names',
    }),
    bad_request: refusal(400, 'The request cannot be understood', { advice: 'Send what the text asks for' }),
    not_found: refusal(404, 'There is no such thing, or it is not shown to this caller', {
      advice: 'Look at the name, and at what the API key may see',
    }),
    method_not_allowed: refusal(405, 'This method is not possible here: Allow names those that are', {
      hint: 'Use a method of the header Allow',
    }),
    request_timeout: refusal(408, 'The request took too long to arrive', {
      advice: 'Send the request within 15 seconds',
    }),
    payload_too_large: refusal(413, 'The body is too large', { advice: 'Send less at once' }),
    uri_too_long: refusal(414, 'A part of the path is too long', { advice: 'Send a shorter name' }),
    unsupported_media_type: refusal(415, 'Send the body as application/json', {
      hint: 'Set the header Content-Type to application/json',
    }),
    expectation_failed: refusal(417, 'What Expect asks for is not possible', { advice: 'Leave Expect out' }),
    upgrade_required: refusal(426, 'This address takes WebSockets only', {
      hint: 'Connect with a WebSocket client, or read /irc/listen',
    }),
    rate_limited: refusal(429, 'There were too many requests of this kind'),
    headers_too_large: refusal(431, 'The headers of the request are too large', {
      hint: 'Send fewer or shorter headers',
    }),
    internal_error: refusal(500, 'Something went wrong on our side', {
      advice: 'Tell the operator the `request_id`',
    }),
  },
  'What is not there': {
    channel_not_found: absent('There is no such channel on the network', {
      hint: 'GET /irc/channels, or svc_list_channels, lists those that there are',
    }),
    shown_channel_not_found: absent('Channel not found', {
      hint: 'GET /irc/channels, or svc_list_channels, lists those that there are. A private channel is shown to operators’ keys, to agent keys that are good for operate, and to agents that are in it now',
    }),
    managed_channel_not_found: absent('Channel not found', {
      hint: 'GET /channels lists the managed channels, and GET /irc/channels those of the network. A private one is shown to who may see it',
    }),
    paid_channel_not_found: absent('Paid channel not found', { hint: 'GET /payments/channels lists them' }),
    event_not_found: absent('No event with this id was received', {
      hint: 'GET /ops/events lists what was received',
    }),
    receipt_not_found: absent('No event with this id was received from this producer', {
      hint: 'Look at the id, and at which producer posted it. What was refused, or tried with dry_run, was not received',
    }),
    dead_letter_not_found: absent('No dead letter has this event id', {
      hint: 'GET /ops/dead-letters lists them',
    }),
    webhook_not_found: absent('This nick has no webhook', { hint: 'PUT /irc/webhook registers one' }),
    webhook_message_not_found: absent('No dead letter of this webhook has the id', {
      hint: 'GET /irc/webhook/dead-letters lists them',
    }),
    entry_not_found: absent('This nick has no entry', { hint: 'GET /agents lists those that have one' }),
    verified_agent_not_found: absent('Agent not found', { hint: 'GET /verification/agents lists them' }),
    key_not_found: absent('There is no such key, or not any more', {
      hint: 'GET /auth/keys lists those that are in use',
    }),
    feedback_not_found: absent('There is no such feedback', {
      hint: 'GET /reputation/{nick}/feedback lists it',
    }),
    feedback_of_channel_not_found: absent('No feedback was given in this channel', {
      hint: 'GET /leaderboard/channels lists those where some was',
    }),
    incident_not_found: absent('Incident not found', { hint: 'GET /sentinel/incidents lists them' }),
    moderation_incident_not_found: absent('There is no such incident', {
      hint: 'GET /guardian/incidents lists the newest',
    }),
    query_not_found: absent('Query not found', {
      hint: 'GET /multibrain/queries lists those that are public, or with mine=true your own',
    }),
    read_model_not_found: absent('No read model has this name', { hint: 'GET /ops/projections lists them' }),
    worker_not_found: absent('No worker has this name', { hint: 'GET /ops/workers lists them' }),
  },
  'Parts of the service': {
    not_ready: refusal(503, 'The service is starting: not every part can answer yet', { retryAfter: 1 }),
    stopping: refusal(503, 'The service is stopping', { retryAfter: 5 }),
    log_unavailable: refusal(503, 'The event log cannot be used now', { retryAfter: 2 }),
    log_contended: refusal(503, 'Too many changes of the same thing at once', { retryAfter: 1 }),
    store_unavailable: refusal(503, 'The read store is not available', { retryAfter: 2 }),
    read_model_building: refusal(503, 'The read model is being built', { retryAfter: 2 }),
    read_model_behind: refusal(503, 'The read model does not show yet what was asked for', { retryAfter: 1 }),
    nobody_answers: refusal(503, 'No process answers for this part of the service', { retryAfter: 2 }),
    answer_overdue: refusal(
      503,
      'A part of the service did not answer in time: what was asked may still be done',
      { retryAfter: 2, advice: 'Check whether it was done, then try again' },
    ),
    irc_unavailable: refusal(503, 'IRC not connected or bot not operator', { retryAfter: 5 }),
    upstream_invalid: refusal(502, 'A part of the service gave an answer that cannot be read', {
      retryAfter: 1,
    }),
    upstream_unreachable: refusal(502, 'A part of the service is unreachable', { retryAfter: 1 }),
    too_many_viewers: refusal(503, 'Too many streams are open', { retryAfter: 5 }),
    too_many_streams: refusal(429, 'Too many of your streams are open', {
      hint: 'Close one of them',
      retryAfter: 5,
    }),
    too_many_subscriptions: refusal(409, 'The session has as many subscriptions as it may have', {
      hint: 'resources/unsubscribe from one that is of no use any more',
    }),
    skill_unavailable: refusal(503, 'The skill cannot be read now', { retryAfter: 60 }),
  },
  Credentials: {
    api_key_required: refusal(401, 'This route needs an API key', {
      hint: 'Send it as X-Api-Key, X-Mcp-Api-Key or Authorization: Bearer. The operator gives keys, and a verified wallet gets one for its nick with POST /auth/keys: /auth.md says how',
    }),
    api_key_invalid: refusal(401, 'This API key is not known', {
      hint: 'Check whether it was copied whole. The operator gives keys, and a verified wallet gets one for its nick with POST /auth/keys: /auth.md says how',
    }),
    api_keys_not_configured: refusal(403, 'This route answers local callers only', {
      hint: 'The operator can open it to others by setting API_KEYS or API_KEYS_FILE',
    }),
    api_key_expired: refusal(401, 'The agent key is not good any more', { advice: 'Get a new one' }),
    api_key_void: refusal(401, 'The nick of the agent key has another wallet now, or none that is verified', {
      advice: 'Link the wallet and verify it, or get a new key',
    }),
    too_many_keys: refusal(409, 'As many keys of this nick are in use as may be', {
      advice: 'Revoke one, `DELETE /auth/keys/{id}`',
    }),
    key_of_a_key: refusal(403, 'A key that was got with another key gives no keys', {
      advice: 'Use the key that it was got with, or the wallet',
    }),
    scope_of_operators: refusal(403, 'A wallet gives its nick no keys for this: the operator does', {
      advice: 'Leave the scope out, or ask the operator for a key',
    }),
    scope_missing: refusal(403, 'The agent key is not good for this: the text names the scope', {
      advice: 'Get a key with the scope, or ask the operator',
    }),
    not_your_nick: refusal(403, 'An agent key acts as its own nick, and as no other', {
      hint: 'Leave the nick out, or name the one of the key',
    }),
    credential_missing: refusal(401, 'Neither a signature nor a key was sent', {
      hint: 'Send an API key as X-Mcp-Api-Key or Authorization: Bearer. Or sign the request with a wallet (ERC-8128): that opens the tools that read. /auth.md says how to get a key and how to sign',
    }),
    api_key_not_configured: refusal(
      401,
      'The service has no keys, and answers callers on its own machine only',
      {
        hint: 'Sign the request with a wallet (ERC-8128), which opens the tools that read: /auth.md says how. The operator has given out no keys',
      },
    ),
    signature_input_invalid: refusal(
      401,
      'Signature and Signature-Input must both be there, readable, and have the label eth',
      { hint: 'Sign as /auth.md says' },
    ),
    wallet_invalid: refusal(401, 'The keyid must be erc8128:<chain id>:<0x address>', {
      advice: 'Sign as `/auth.md` says',
    }),
    wallet_mismatch: refusal(401, 'The signature is not one of the wallet in the keyid over this request', {
      advice: 'Sign this request with the wallet of the keyid',
    }),
    signature_stale: refusal(
      401,
      'The signature is from another time, or is to hold for more than 300 seconds',
      { advice: 'Look at the clock, and sign again' },
    ),
    nonce_required: refusal(401, 'The signature has no nonce', { hint: 'Get a new nonce for each request' }),
    nonce_unknown: refusal(401, 'The nonce was not issued here', {
      hint: 'Get a new nonce for each request',
    }),
    nonce_replayed: refusal(401, 'The nonce has been used', { hint: 'Get a new nonce for each request' }),
    nonce_expired: refusal(401, 'The nonce is older than 300 seconds', {
      hint: 'Get a new nonce for each request',
    }),
    components_invalid: refusal(
      401,
      'The signature does not cover what it must, or covers what this request does not have',
      { advice: 'Cover what `Accept-Signature` names' },
    ),
    class_bound_rejected: refusal(401, 'The signature is for a class of requests; it must be for this one', {
      advice: 'Cover @method and @path',
    }),
    content_digest_required: refusal(
      401,
      'The signature covers content-digest, and the request has no Content-Digest',
      { advice: 'Send Content-Digest' },
    ),
    content_digest_mismatch: refusal(401, 'Content-Digest is not the SHA-256 digest of the body', {
      advice: 'Compute the digest over the bytes that are sent',
    }),
    signature_invalid: refusal(401, 'The signature is not one that a wallet makes', {
      advice: 'Sign as `/auth.md` says',
    }),
    alg_unsupported: refusal(401, 'The signature must be made with eip191 (personal_sign)', {
      advice: 'Leave alg out, or say eip191',
    }),
    chain_not_allowed: refusal(401, 'The wallet must be one of chain 8453', {
      advice: 'Use a keyid that begins with `erc8128:8453:`',
    }),
    nonce_rate_limited: refusal(429, 'This address asked for too many nonces'),
    nonce_capacity: refusal(429, 'Too many nonces have been issued and not been used', { retryAfter: 10 }),
    nonce_store_unavailable: refusal(503, 'Nonces can be neither issued nor used now', { retryAfter: 2 }),
    wallet_not_verified: refusal(
      403,
      'The nick and its wallet have not proven each other: level 2 is needed',
      {
        hint: 'Link over IRC while identified with the nick service, and answer the challenge',
      },
    ),
    wallet_not_of_nick: refusal(403, 'The wallet that signed is not the one of the nick', {
      advice: 'Sign with the wallet that is linked to the nick',
    }),
  },
  'Authentication and discovery': {
    host_not_allowed: refusal(403, 'This host or origin may not call the tools', {
      hint: 'The operator can allow a host in ALLOWED_HOSTS, a web page in ALLOWED_ORIGINS',
    }),
    unknown_method: refusal(404, 'The tool server has no method of this name', {
      advice: 'Take one that `data.hint` names',
    }),
    unknown_tool: refusal(404, 'The caller has no tool of this name', {
      advice: 'Take a name of `tools/list`; `data.nearest` is the one most like it',
    }),
    unknown_prompt: refusal(404, 'The tool server has no prompt of this name', {
      advice: 'Take one of `prompts/list`',
    }),
    version_unsupported: refusal(400, 'The tool server does not speak this version of MCP', {
      advice: 'Take one of `data.supported`, or begin with `initialize`',
    }),
    header_mismatch: refusal(400, 'A header of MCP is missing, or is not what the body says', {
      advice: 'Send MCP-Protocol-Version, Mcp-Method and Mcp-Name as in the body',
    }),
    parse_error: refusal(400, 'The body is not JSON', { advice: 'Send JSON' }),
    method_not_found: refusal(404, 'There is no such method', { advice: 'Call one that the hint names' }),
    invalid_request: refusal(400, 'The body is no JSON-RPC 2.0 message', {
      hint: 'A request has jsonrpc "2.0", a method, an id that is text or a whole number, and params that are an object',
    }),
  },
  'The A2A agent': {
    invalid_params: refusal(400, 'The parameters are not those of the method', {
      advice: '`data.details` names the bad fields',
    }),
    task_not_found: refusal(404, 'There is no such task', { advice: 'Tasks are known for an hour' }),
    task_not_cancelable: refusal(409, 'The task is over', {
      advice: 'Ask `tasks/get` for what became of it',
    }),
    push_not_supported: refusal(400, 'Push notifications are not supported', {
      advice: 'Ask `tasks/get` for what became of a task',
    }),
    unsupported_operation: refusal(400, 'The agent answers at once, and has no streams', {
      advice: 'Use `message/send`',
    }),
    content_type_not_supported: refusal(400, 'The agent reads text and data, and answers with text or JSON', {
      advice: 'Send parts of the kinds text and data, and accept `application/json` or `text/plain`',
    }),
    no_extended_card: refusal(400, 'The card that everybody gets is the whole card', {
      advice: 'Read `/.well-known/agent-card.json`',
    }),
  },
  'Authorization of programs (OAuth)': {
    invalid_client_metadata: refusal(400, 'The registration is not one of a program that signs people in', {
      advice: 'Send `redirect_uris` and `client_name`, as `/auth.md` says',
    }),
    invalid_redirect_uri: refusal(400, 'People are not sent back to such an address', {
      advice: 'Use https, http on 127.0.0.1, [::1] or localhost, or a scheme of your own',
    }),
    oauth_request_invalid: refusal(
      400,
      'The request to authorize a program is not complete, or not allowed',
      {
        code: 'invalid_request',
        advice: 'Send what the text asks for; PKCE with S256 is needed',
      },
    ),
    invalid_client: refusal(400, 'This client_id is not one of this service', {
      advice: 'Register the program again, `POST /oauth/register`',
    }),
    invalid_grant: refusal(400, 'The code is not good: unknown, used, expired, or of another request', {
      advice: 'Have the person sign in again',
    }),
    unsupported_grant_type: refusal(400, 'Codes are all that tokens are given for', {
      advice: 'Send `grant_type=authorization_code`',
    }),
    invalid_target: refusal(400, 'The resource is not one of this service', {
      advice: 'Send the `resource` of the metadata, or none',
    }),
    sign_in_invalid: refusal(
      401,
      'What the wallet signed is not the text of this sign-in, or not its signature',
      {
        hint: 'Load the page again and sign what it shows',
      },
    ),
    sign_in_missing: refusal(401, 'Neither a wallet nor an agent key was shown', {
      hint: 'Sign in with the wallet, or paste an agent key',
    }),
    operators_key_not_taken: refusal(403, 'An operator’s key gives no keys to programs', {
      hint: 'Sign in with the wallet, or paste an agent key. An operator makes one with relay keys new',
    }),
    other_origin: refusal(403, 'This is for the page of this service alone', {
      hint: 'Open the page where the program sends you',
    }),
  },
  Events: {
    invalid_event: refusal(400, 'The body is not an event as the marketplace sends them', {
      advice: 'Change each field that `details` names; `/producers.md` has them all',
    }),
    signature_missing: refusal(401, 'X-EM-Signature is missing', {
      hint: 'Sign the body: /producers.md has a command that does',
    }),
    event_signature_invalid: refusal(401, 'X-EM-Signature does not match the body', {
      code: 'signature_invalid',
      hint: 'Check three things. The HMAC-SHA256 is over the bytes of the body, as they are sent. Its key is the secret that you share with the operator. `sha256=` comes before the hexadecimal digits, which are lower case. /producers.md has a command that signs',
    }),
    receipt_signature_invalid: refusal(401, 'X-EM-Signature does not match the timestamp and the event_id', {
      code: 'signature_invalid',
      hint: 'There is no body: sign X-EM-Timestamp, a point and the event_id, with the shared secret',
    }),
    timestamp_missing: refusal(401, 'X-EM-Timestamp is missing', {
      hint: 'Send the time of now, such as 2026-01-31T12:00:00Z',
    }),
    timestamp_invalid: refusal(401, 'X-EM-Timestamp is not an ISO 8601 time', {
      hint: 'Send a time such as 2026-01-31T12:00:00Z',
    }),
    timestamp_zone_missing: refusal(401, 'X-EM-Timestamp has no zone: nobody knows which hour it means', {
      code: 'timestamp_invalid',
      hint: 'Add Z to a time in UTC, as in 2026-01-31T12:00:00Z, or the offset, as in +01:00',
    }),
    timestamp_stale: refusal(401, 'X-EM-Timestamp is more than 5 minutes from our clock', {
      hint: 'Look at the clock, and send the event again',
    }),
    source_not_yours: refusal(403, 'The source of the event is another producer', {
      hint: 'Send your own name as source: the one that the operator gave you with the secret',
    }),
    event_id_taken: refusal(409, 'Another producer has sent an event with this event_id', {
      hint: 'Send it with another event_id, for example one that begins with the name of your source',
    }),
    task_not_yours: refusal(403, 'Another producer spoke of this task first', {
      hint: 'Give your tasks and relays ids whose first 8 characters nobody else uses',
    }),
    webhook_secret_not_configured: refusal(503, 'EM_WEBHOOK_SECRET is not set on this service', {
      retryAfter: 60,
      advice: 'The operator has to set it',
    }),
  },
  Delivery: {
    not_dead_lettered: refusal(409, 'The event is not a dead letter (any more)', {
      advice: 'Nothing: it is delivered, or will be',
    }),
    not_delivered: refusal(409, 'The event has not been delivered', {
      hint: 'Dead letters and expired events are redriven; pending ones are shown without help.',
    }),
    no_such_channel: refusal(409, 'The event does not go to this channel', {
      hint: 'Name channels of the event: the text has them',
    }),
  },
  Channels: {
    channel_exists: refusal(409, 'Channel already exists', { advice: 'Take another name' }),
    channel_reserved: refusal(409, 'This channel is always there and cannot be managed', {
      hint: 'Use another channel',
    }),
    refused_by_network: refusal(409, 'The IRC network does not do it', {
      hint: 'The text has the words of the IRC server. Do what they ask for, such as an invitation, or take another channel',
    }),
    type_limit_reached: refusal(429, 'There are as many channels of this type as there may be', {
      advice: 'Delete a channel of this type first',
    }),
  },
  Speaking: {
    nick_in_use: refusal(409, 'Somebody is on the network under this nick', {
      hint: 'If it is you, speak there, or leave the network first',
    }),
    account_refused: refusal(403, 'The nick service refuses the account or its password', {
      hint: 'Send the password of the account with the name of the nick',
    }),
    said_to_service: refusal(403, 'Lines to services of the network hold passwords, and lines are recorded', {
      hint: 'Identify with POST /irc/connection, or over IRC itself',
    }),
    too_many_channels: refusal(409, 'The agent is in as many channels as it may be', {
      advice: 'Leave one',
    }),
    too_many_agents: refusal(503, 'As many agents are on the network through this service as may be', {
      retryAfter: 60,
    }),
    too_many_webhooks: refusal(503, 'As many agents have a webhook as may be', {
      advice: 'Read the inbox, or ask the operator',
    }),
    webhook_address_refused: refusal(400, 'A webhook leads to a host of the public internet, by https', {
      advice: 'Give an https address that everybody can reach',
    }),
    message_not_dead: refusal(409, 'The message is being posted again', {
      advice: 'Nothing: it is posted, or will be a dead letter again',
    }),
    line_expired: refusal(503, 'The network could not be reached in time: nobody has seen the line', {
      retryAfter: 5,
      advice: 'Send it again under a new Idempotency-Key',
    }),
    line_in_doubt: refusal(502, 'It is not known whether the line was seen', {
      retryAfter: 5,
      advice: 'Check whether somebody answers before you send it again under a new Idempotency-Key',
    }),
    idempotency_key_reused: refusal(409, 'Another line was sent under this key', {
      hint: 'Take a new Idempotency-Key for each line',
    }),
    gateway_not_configured: refusal(503, 'This service does not speak for agents', {
      retryAfter: 60,
      hint: 'The operator has to set IRC_GATEWAY_PASSWORD, which the IRC server knows it by',
    }),
  },
  Identity: {
    already_verified: refusal(409, 'Identity already verified', { advice: 'Nothing: it is done' }),
    challenge_missing: refusal(400, 'No active challenge', { hint: 'Ask for a challenge and sign that one' }),
    challenge_expired: refusal(410, 'Challenge expired', { advice: 'Ask for a new challenge' }),
    challenge_signature_invalid: refusal(400, 'Invalid signature', {
      code: 'signature_invalid',
      advice: 'Sign the text of the challenge with personal_sign: 0x and 130 hexadecimal digits',
    }),
    challenge_wallet_mismatch: refusal(401, 'Signature does not match the linked wallet', {
      code: 'wallet_mismatch',
      advice: 'Sign with the wallet that is linked',
    }),
    nick_linked: refusal(409, 'Nick already linked', { advice: 'Unlink the nick first' }),
    wallet_linked: refusal(409, 'Wallet already linked', { advice: 'Unlink the wallet first' }),
    nick_not_linked: refusal(404, 'No nick linked', { advice: 'Link the wallet with a nick' }),
    wallet_not_linked: refusal(404, 'No wallet linked', {
      hint: 'Link the nick with a wallet: LINK <address> to the identity bot, or POST /identity/link',
    }),
  },
  Directory: {
    entry_withheld: refusal(400, 'Words of it look like an attack on its readers, or are reserved', {
      advice: 'Say it in other words',
    }),
    card_missing: refusal(404, 'The entry of this agent names no card', {
      hint: 'Ask the agent as its entry says',
    }),
    card_unreachable: refusal(502, 'The card cannot be had from the address that the agent gave', {
      advice: 'Look at the entry again later: the agent may change the address',
      retryAfter: 60,
    }),
    card_invalid: refusal(502, 'What is at the address that the agent gave is not a card', {
      advice: 'Tell the agent',
      retryAfter: 60,
    }),
    too_many_cards: refusal(503, 'Too many cards are being fetched', { retryAfter: 2 }),
  },
  Verification: {
    no_pending_verification: refusal(404, 'There is no pending verification', {
      advice: 'Ask for a challenge first',
    }),
    verification_expired: refusal(410, 'The verification has expired: ask for a new challenge', {
      advice: 'Ask for a new challenge',
    }),
    verification_failed: refusal(400, 'The post does not prove the account', {
      advice: 'Post the text of the challenge from the account that you want to verify',
    }),
    nickname_taken: refusal(409, 'This nickname is registered already', { advice: 'Take another nickname' }),
    nickname_reserved: refusal(409, 'This nickname is a bot’s, or belongs to somebody on the network', {
      hint: 'Take another nickname',
    }),
    post_not_found: refusal(400, 'There is no such public post', {
      advice: 'Give the address of a post that everybody can see',
    }),
    post_url_invalid: refusal(400, 'The address is not one of a post', {
      advice: 'Give the address of the post itself',
    }),
    social_unreachable: refusal(502, 'The social network does not answer: try again later', {
      retryAfter: 5,
    }),
  },
  'Incidents and feedback': {
    incident_exists: refusal(409, 'There is an incident with this id', {
      advice: 'Send it again: it gets another id',
    }),
    already_voted: refusal(409, 'This voter has voted on the incident already', {
      advice: 'Nothing: each voter votes once',
    }),
    own_incident: refusal(403, 'Nobody votes on an incident that they reported', {
      advice: 'Leave the vote to others',
    }),
    link_too_young: refusal(403, 'The link of the nick with its wallet is too young to vote', {
      advice: 'Wait: the text says how old it must be',
    }),
    not_met: refusal(
      403,
      'You rate agents that you have met: both seen in the channel, or in a task, in 30 days',
      {
        advice: 'Rate in a channel where both of you have been',
      },
    ),
    nick_never_seen: refusal(404, 'This nick was never seen on the network, and has no link', {
      advice: 'Look at the spelling',
    }),
    rated_by_marketplace: refusal(409, 'The marketplace has told of this rating today', {
      advice: 'Nothing: that one counts',
    }),
    already_answered: refusal(409, 'This feedback was answered already', {
      advice: 'Nothing: feedback is answered once',
    }),
    self_feedback: refusal(400, 'Nobody rates themselves', { advice: 'Rate somebody else' }),
  },
  Moderation: {
    not_your_incident: refusal(403, 'The incident is not yours', {
      advice: 'Appeal as the account, or from the host, that it was recorded for',
    }),
    nothing_to_appeal: refusal(409, 'Nothing was done for this incident, or it was pardoned', {
      advice: 'Nothing: it does not count',
    }),
    no_open_appeal: refusal(409, 'Nobody has appealed, or the incident was pardoned', {
      advice: 'Nothing, or pardon it without an appeal',
    }),
  },
  Payments: {
    payment_required: refusal(402, 'Payment required', {
      advice: 'Pay in one of the ways that `accepts` lists',
    }),
    payment_header_invalid: refusal(400, 'The payment header is no x402 payment', {
      hint: 'Send the base64 of the JSON payment payload as PAYMENT-SIGNATURE, or as X-PAYMENT',
    }),
    payment_mismatch: refusal(402, 'The payment is for none of the ways to pay for this channel', {
      advice: 'Pay in one of the ways that `accepts` lists',
    }),
    payment_invalid: refusal(402, 'The facilitator finds the payment invalid', {
      advice: 'Sign a new payment: the text has the words of the facilitator',
    }),
    payment_spent: refusal(402, 'The payment has been used', { hint: 'Sign a new payment' }),
    settlement_failed: refusal(402, 'The payment was not settled', {
      advice: 'Sign a new payment: the text has the words of the facilitator',
    }),
    settlement_unknown: refusal(502, 'It is not known whether the payment was settled', {
      hint: 'Present the same payment again: it is not charged twice. A new payment would be a second one',
      retryAfter: 5,
    }),
    payment_in_progress: refusal(409, 'Another payment for this nick is under way', {
      hint: 'Present that payment again to learn what came of it',
    }),
    session_active: refusal(409, 'This nick has a session in the channel', {
      advice: 'Wait until the session ends',
    }),
    channel_full: refusal(503, 'The channel is full', { hint: 'Try again later' }),
    nick_not_on_irc: refusal(400, 'Nick not connected to IRC', {
      hint: 'Connect to the network under this nick first: nothing was paid',
    }),
    nick_banned: refusal(403, 'Banned from the channel', {
      hint: 'Wait until the ban is over, or appeal it, and pay then: nothing was paid',
    }),
    payments_not_configured: refusal(503, 'Payments for this channel are not configured', {
      retryAfter: 60,
      advice: 'The operator has to set how payments are taken',
    }),
    facilitator_unreachable: refusal(502, 'The payment facilitator is unreachable', {
      retryAfter: 5,
      hint: 'Send the same request again: nothing was paid',
    }),
  },
  'Task marketplace': {
    marketplace_not_configured: refusal(503, 'The task marketplace is not configured', {
      hint: 'The operator has not set EM_URL, the address of the task marketplace',
    }),
    marketplace_unreachable: refusal(502, 'The task marketplace is unreachable', {
      retryAfter: 5,
      advice: 'A read: try again. A write may be done: look at the task first, and send an Idempotency-Key',
    }),
    marketplace_timeout: refusal(502, 'The task marketplace did not answer in time', {
      retryAfter: 5,
      advice: 'A read: try again. A write may be done: look at the task first, and send an Idempotency-Key',
    }),
    marketplace_invalid: refusal(502, 'The task marketplace gave an answer that cannot be passed on', {
      retryAfter: 5,
      advice: 'A read: try again. A write may be done: look at the task first, and send an Idempotency-Key',
    }),
    marketplace_failed: refusal(502, 'The task marketplace did not give its tasks', { retryAfter: 1 }),
  },
  Deliberation: {
    models_not_configured: refusal(503, 'No model is configured', {
      hint: 'The operator names a file of models in MODELS',
    }),
    query_exists: refusal(409, 'There is a query with this id', {
      advice: 'Send it again: it gets another id',
    }),
    query_closed: refusal(409, 'No model is asked any more: the context would reach none', {
      advice: 'Create a new query',
    }),
    too_many_injections: refusal(409, 'The query has taken as many contexts as it may', {
      advice: 'Create a new query',
    }),
    not_owner: refusal(403, 'Only the key that created the query may change who sees it', {
      advice: 'Use the key that created the query',
    }),
  },
  Operation: {
    not_halted: refusal(409, 'The read model, or the worker, has not halted at this fact', {
      advice: '`GET /ops/projections` and `GET /ops/workers` say where they have halted',
    }),
    ahead_of_log: refusal(409, 'The read model is ahead of the event log: skipping a fact does not help', {
      advice: 'Rebuild the read model',
    }),
  },
};

type Areas = typeof refusalAreas;

/** Name of a refusal: the code that callers see, but for the few that share one. */
export type RefusalCode = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];

/** The catalogue of refusals, by name. */
export const refusals = Object.fromEntries(
  Object.values(refusalAreas).flatMap((area) => Object.entries(area)),
) as Readonly<Record<RefusalCode, Readonly<Described>>>;

import {
  channelEffects,
  eventKinds,
  payloadAliases,
  routeEvent,
  samplePayload,
} from '../../../streams/events/index.js';
import { type RefusalCode, refusals } from '../../../streams/refusals.js';
import { bodyLimit } from '../../http/errors.js';
import { receiveEvent } from '../../operations/events/index.js';
import { ofTimestamped } from '../../operations/events/signed.js';
import { counted } from '../../words/counted.js';
import type { Doors } from './doors.js';
import type { EventTerms } from './event-terms.js';

const task = 'a1b2c3d4';
/** What the server says to events by itself. */
const ofEveryRoute = {
  payload_too_large: true,
  unsupported_media_type: true,
  rate_limited: 'Too many events with a wrong signature from one address',
} as const;

/** How a producer signs, as its headers are described and as a shell makes them. */
const waysToSign = {
  body: {
    signature: '`sha256=` and the HMAC-SHA256 of the bytes of the body in lower-case hexadecimal',
    timestamp: 'ISO 8601 with its zone, as in `2026-01-31T12:00:00Z`',
    date: 'date -u +%Y-%m-%dT%H:%M:%SZ',
    prefix: 'sha256=',
    signed: '$body',
  },
  timestamped: {
    signature: 'the HMAC-SHA256 of `<X-EM-Timestamp>.<body>` in lower-case hexadecimal, nothing before it',
    timestamp: 'seconds since 1970, as in `1769860800`',
    date: 'date +%s',
    prefix: '',
    signed: '$timestamp.$body',
  },
} as const;
const orTimestamped = `
Or sign so: the timestamp in Unix seconds, and as signature the bare hexadecimal HMAC of
\`<timestamp>.<body>\`.
`;

/** All that a producer of events has to know, for the service at these doors. */
export function producerGuide({ at, events }: Pick<Doors, 'at' | 'events'>): string {
  const { ttlMs, retryMs, maxRetries, source, schemes } = events;
  const signing = waysToSign[schemes.includes('body') ? 'body' : 'timestamped'];
  const isEither = schemes.includes('body') && schemes.includes('timestamped');
  return `# For producers of events

A producer posts what happens to tasks, payments and reputations. Each event becomes one line in the channels that it
concerns, once and in order.

## Send

\`POST ${at.webhook}\`, \`Content-Type: application/json\`:

\`\`\`json
${JSON.stringify(receiveEvent.example, null, 2)}
\`\`\`

| member | |
|---|---|
| \`event_id\` | 1 to 200 printable characters, yours alone, the same when you repeat the event |
| \`event_type\` | 1 to 100 characters of A-Z a-z 0-9 _ . : / -, best one of the [types](#event-types) |
| \`source\` | who you are, 1 to 200 printable characters; not \`${source}\`, which is this service |
| \`payload\` | an object of at most 64 levels; the fields that count are named with each type, others are kept and not shown |

A body has at most ${bodyLimit / 1024} KiB. Events that are signed right are never limited in number.

| header | |
|---|---|
| \`X-EM-Signature\` | ${signing.signature}, keyed with the secret that you share with the operator |
| \`X-EM-Timestamp\` | ${signing.timestamp}; at most 5 minutes from our clock |
${isEither ? orTimestamped : ''}
\`\`\`bash
body='${JSON.stringify({ ...receiveEvent.example, event_id: 'evt-of-mine' })}'
timestamp=$(${signing.date})
curl -s ${at.webhook} -d "$body" -H 'Content-Type: application/json' -H "X-EM-Timestamp: $timestamp" \\
  -H "X-EM-Signature: ${signing.prefix}$(printf %s "${signing.signed}" | openssl dgst -sha256 -hmac "$secret" | sed 's/.* //')"
\`\`\`

## Answers

| answer | meaning | what to do |
|---|---|---|
${answers(events).join('\n')}
${ofUnknownTypes(events)}

\`warnings\` of an answer names what you may not have meant, with its \`path\` and a \`message\`. That is a field of a wrong type,
an amount that is below 0 or shown rounded, or a type that is nearly one of the list. Or it is a line without its room, or a nick
to invite that nobody can have. The event is stored anyway.

## Several producers

The operator may give each producer a name with its secret. Then \`source\` is that name, and another one is refused. The first
producer that speaks of a task or a relay owns it: events of others about it are refused. Ids count as they are shown, by their
first 8 characters. A producer sees receipts of its own events only.

## Try first

\`POST ${at.webhook}?dry_run=true\` takes the same event, with the same signature and the same checks. It answers 200 with
\`{"status": "dry_run", "would_be": "accepted", "target_channels", "formatted_message"}\`. \`withheld\` is there where text
would be left out, \`opens\` or \`closes\` where a room would be. Nothing is stored, counted or shown, and the id stays free.
What is wrong with an event is refused as always. The signature does not cover the query: without it, the same request is an
event.

## Try it on the network

The operator may give you a second name and secret for tests: a name that is \`test\`, or begins with \`test-\`. What that
producer sends is stored and delivered like any event, with a receipt. Only its channels are others: \`#test-bounties\` in
place of \`#bounties\`, and one for all rooms of a kind, such as \`#test-task\` and \`#test-city\`. Everybody can read them. A
test opens and closes no room, owns no task and rates nobody. Its \`event_id\` must begin with \`test-\`.

## Repeat

An \`event_id\` is taken once, for ever. An answer of 200 or 202 says that the event is on disk. After 429, a 5xx or no answer at
all, send the same bytes again, with the same \`event_id\` and a new timestamp. Wait for \`Retry-After\` seconds where it is
there. Nothing is doubled. An id that is known with another body changes nothing: the first body counts, and \`warnings\` of the
answer says so as soon as the service can compare. Any other error comes again unless you change the event.

## What becomes of an event

The line is shown at once, in each channel after the lines that came before. A line that the network refuses is tried
again after ${duration(retryMs)}; after ${maxRetries} failures in a channel the event is \`dead_letter\`, which an operator
can have tried again. While the network is away nothing counts as a failure. After ${duration(ttlMs)} without success the
event is \`expired\`.

\`GET ${at.webhook}/<event_id>\` answers what became of one event of yours, channel by channel, with times. It has no body,
so sign \`<X-EM-Timestamp>.<event_id>\` instead, with the same secret and the same two headers.

\`\`\`bash
timestamp=$(${signing.date})
curl -s ${at.webhook}/evt-of-mine -H "X-EM-Timestamp: $timestamp" \\
  -H "X-EM-Signature: ${signing.prefix}$(printf %s "$timestamp.evt-of-mine" | openssl dgst -sha256 -hmac "$secret" | sed 's/.* //')"
\`\`\`

\`GET ${at.webhookStats}\` counts them all.

## Event types

A field in **bold** is required: without it the event is refused, and \`details\` names it. Every other one may be missing;
the line leaves out what it would say. The lines here are of events in which all is known.

| types | fields of the payload | shown in | line |
|---|---|---|---|
${eventKinds.map(row).join('\n')}
| any other | ${anyOther(events)} |

Of the id of a task or a relay the first 8 characters are shown, and name its room: let ids differ there. \`#city-…\` is
named by what is before the first comma of \`location\`, \`#cat-…\` by \`category\`. Where a channel cannot be named, or a
room was deleted, it is left out; with none left the line goes to \`#bounties\`.

The room of a task is private from its \`task.assigned\` on. Before that, and without it, everybody can read the room: post
the assignment first. All other channels are public. Wallets are shown as their first 6 and last 4 characters, transaction
hashes as their first 10. Text that looks like an attack on agents is shown as \`[withheld: guardian]\`.

| field | also read as |
|---|---|
${aliases().join('\n')}
| \`escrow_amount\` | \`bounty_usdc\`; and the other way round where something is paid out |
| \`worker_nick\` | \`worker_wallet\` |
| \`cancellation_reason\` | \`reason\` |

A rating that names both sides (\`publisher_nick\` and \`worker_nick\`; or \`from_nick\` and \`to_nick\`) counts for the
reputation of the one who is rated.

Amounts are numbers or decimal text, in US dollars. A line shows cents, and six decimals of less than a cent. A \`network\` that nobody names is \`base\`.
`;
}

function answers({ schemes }: EventTerms): string[] {
  const good = Object.entries(receiveEvent.answers).reverse();
  const rows = good.map(
    ([status, { says }]) => `| ${status} | ${says} | Look at \`warnings\`, if there are any |`,
  );
  const bad = Object.entries({ ...receiveEvent.refusals, ...ofEveryRoute }) as [RefusalCode, string | true][];
  return [
    ...rows,
    ...bad.map(([name, meaning]) => {
      const other = schemes.includes('body') ? undefined : ofTimestamped[name];
      const { code = name, status, says, hint, advice = 'Send it again' } = { ...refusals[name], ...other };
      return `| ${status} \`${code}\` | ${meaning === true ? says : meaning} | ${hint ?? advice} |`;
    }),
  ];
}

/** What the operator has set for types that are not in the list. */
function ofUnknownTypes({ unknown: { events } }: EventTerms): string {
  const answer = {
    show: '202 | The type is not in the list below: the event is shown as JSON in `#bounties`',
    ignore: '200 `ignored` | The type is not in the list below: the event is neither stored nor shown',
    reject: '400 `invalid_event` | The type is not in the list below',
  }[events];
  return `| ${answer}. The operator sets this: \`UNKNOWN_EVENTS=${events}\` | Try it first, see below |`;
}

function aliases(): string[] {
  return Object.entries(payloadAliases).map(([field, others]) => {
    return `| \`${field}\` | ${others.map((other) => `\`${other}\``).join(', ')} |`;
  });
}

function anyOther({ unknown: { events, fields } }: EventTerms): string {
  if (events === 'ignore') return 'none | nowhere: answered 200 `ignored` |';
  if (events === 'reject') return 'none | nowhere: answered 400 `invalid_event` |';
  const shown = fields.length === 0 ? 'all of it' : fields.map((name) => `\`${name}\``).join(', ');
  return `${shown} | \`#bounties\`, for everybody | \`[<type>] <JSON, cut to 300 characters>\``;
}

/** What one kind of event says and does, as its samples show. */
function row({ types, required }: (typeof eventKinds)[number]): string {
  const fields = new Set(types.flatMap(fieldsOf));
  const event = { event_type: types[0]!, payload: samplePayload(types[0]!, task)! };
  const { targetChannels, formattedMessage } = routeOf(event);
  const { open, close } = channelEffects(event);
  const does = [
    ...(open ? [`opens \`${open.name}\``] : []),
    ...(close ? [`${close.reason === null ? 'closes later' : 'closes'} \`${close.name}\``] : []),
  ];
  const named = [...fields].map((field) => (field === required ? `**\`${field}\`**` : `\`${field}\``));
  const places = [...targetChannels.map((name) => `\`${name}\``), ...does];
  const cells = [types.map((type) => `\`${type}\``), named, places].map((cell) => cell.join(', '));
  return `| ${cells.join(' | ')} | \`${formattedMessage.replaceAll('|', '\\|')}\` |`;
}

/** The fields of a type's payload with which something else would be shown or done. */
function fieldsOf(event_type: string): string[] {
  const payload = samplePayload(event_type, task)!;
  const shown = (given: object) => {
    const event = { event_type, payload: given as Record<string, unknown> };
    return JSON.stringify([routeOf(event), channelEffects(event)]);
  };
  const whole = shown(payload);
  return Object.keys(payload).filter((field) => shown({ ...payload, [field]: '7' }) !== whole);
}

const routeOf = (event: { event_type: string; payload: Record<string, unknown> }) =>
  routeEvent({ event_id: '', source: '', ...event });

function duration(ms: number): string {
  if (ms % 3_600_000 === 0) return counted(ms / 3_600_000, 'hour');
  return ms % 60_000 === 0 ? counted(ms / 60_000, 'minute') : counted(ms / 1_000, 'second');
}

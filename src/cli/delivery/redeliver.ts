import { newId } from '../../../streams/core/index.js';
import { market } from '../../../streams/events/index.js';
import { channelKey } from '../../../streams/irc-grammar.js';
import type { paths } from '../../client/api.js';
import { RelayError } from '../../client/error.js';
import { counted } from '../../words/counted.js';
import { timeOf } from '../../words/times.js';
import { isAgreed } from '../core/agreement.js';
import { defineCommand, flag, type Invocation, neededText, text, type Values } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { print, printable } from '../core/terminal.js';
import { statuses } from '../projections/status.js';
import { type Answer, type ServiceClient, serviceOf, serviceOptions } from '../service/client.js';

const page = 500;
const options = {
  from: neededText('SEQ|TIME', 'begin with this sequence, or with this time (ISO 8601)'),
  to: neededText('SEQ|TIME', 'end with it'),
  channel: text('CHANNEL', 'only the lines of this channel'),
  type: text('TYPE', 'only events of this type'),
  run: text('ID', 'go on with this run (default: a new one)'),
  yes: flag('do not ask'),
  'dry-run': flag('say what would be shown, and end'),
  ...serviceOptions,
};
type Chosen = Values<typeof options>;

/** `relay redeliver` */
export const redeliverCommand = defineCommand({
  name: 'redeliver',
  summary: 'Show delivered events again, on purpose',
  details:
    'Nothing else ever shows a confirmed line a second time. Takes the delivered events from one place of the stream\n' +
    'MARKET to another, both included, and asks before it does anything. Each run has an id, which is printed: the\n' +
    'same command with --run goes on with a run that was interrupted, and never shows a line twice for one run.\n' +
    'Events that were given up are for "relay dead-letters redrive".',
  options,
  async run(invocation) {
    const { options, terminal } = invocation;
    const query = queryOf(options);
    const { 'dry-run': dry, yes } = options;
    if (!dry && !yes && !terminal.ask) {
      throw new UsageError('nobody can be asked here: say --yes, or look first with --dry-run');
    }
    const service = serviceOf(invocation, options);
    const channel = channelOf(options);
    const plan = await select(service, query, channel);
    if (plan.events.length === 0) throw await nothingToShow(options, service, plan);
    const run = options.run ?? newId();
    if (dry) return print(invocation, summary(plan), describe(plan));
    if (!yes) {
      terminal.err(describe(plan));
      if (!(await isAgreed(invocation, 'Show them again?')))
        throw new Failed('nothing was done', 'not_agreed');
    }
    if (!invocation.json) terminal.err(`run ${run}`);
    const redelivered = await redeliver(invocation, service, plan, { run, channel });
    const told = `${redelivered} of ${counted(plan.events.length, 'event')} shown again (run ${run})`;
    print(invocation, { run, ...summary(plan), redelivered }, told);
  },
});

/** The question for the events of a range. */
type Range = NonNullable<paths['/ops/events']['get']['parameters']['query']>;

/** What will be shown again, and how much of the range will not. */
interface Plan {
  events: Answer<'/ops/events'>['events'];
  channels: Set<string>;
  lines: number;
  notDelivered: number;
}

/** Reads the whole range before the first event is shown: the confirmed plan is what is done. */
async function select(service: ServiceClient, query: Range, channel?: string): Promise<Plan> {
  const plan: Plan = { events: [], channels: new Set(), lines: 0, notDelivered: 0 };
  for (let after = 0; ; ) {
    const { events } = await service.api.get('/ops/events', { params: { query: { ...query, after } } });
    for (const event of events) {
      if (event.status !== 'delivered') {
        plan.notDelivered += 1;
        continue;
      }
      const channels = event.target_channels.filter((name) => channel === undefined || name === channel);
      for (const name of channels) plan.channels.add(name);
      plan.lines += channels.length;
      plan.events.push(event);
    }
    if (events.length < page) return plan;
    after = events.at(-1)!.id;
  }
}

/** Why nothing in the range can be shown again. */
async function nothingToShow(
  { from, to, type, channel }: Chosen,
  service: ServiceClient,
  { notDelivered }: Plan,
): Promise<Failed> {
  if (notDelivered > 0)
    return new Failed(
      `nothing was delivered there: ${counted(notDelivered, 'event')} of the range ${notDelivered === 1 ? 'was' : 'were'} not`,
      'nothing_delivered',
      'Those that were given up are shown by "relay dead-letters", and redriven by "relay dead-letters redrive".',
    );
  const chosen = `${type ? ` of the type ${type}` : ''}${channel ? ` for the channel ${channel}` : ''}`;
  const head = await headOfMarket(service);
  const end = head === undefined ? '' : `: the stream ${market.name} ends with ${head}`;
  return new Failed(
    printable(`no event${chosen} was received from ${from} to ${to}${end}`),
    'range_empty',
    `Look at what there is: relay events ${market.name}`,
  );
}

/** The last sequence that the read model of deliveries knows; `undefined` if it cannot be told now. */
async function headOfMarket(service: ServiceClient): Promise<number | undefined> {
  const streams = (await statuses(service).catch(() => [])).flatMap((status) => status.streams);
  const heads = streams.flatMap(({ stream, head }) => (stream === market.name ? [head] : []));
  return heads.length > 0 ? Math.max(...heads) : undefined;
}

/** One after the other: a channel shows its lines in the order of the requests. */
async function redeliver(
  invocation: Invocation,
  service: ServiceClient,
  { events }: Plan,
  { run, channel }: { run: string; channel: string | undefined },
): Promise<number> {
  const progress = showProgress(invocation, 'redelivering');
  const body = { run, ...(channel === undefined ? {} : { channels: [channel] }) };
  let redelivered = 0;
  for (const [index, { event_id }] of events.entries()) {
    try {
      const params = { path: { event_id } };
      const answer = await service.api.post('/ops/events/{event_id}/redeliver', { params, body });
      if (answer.redelivered) redelivered += 1;
    } catch (error) {
      if (!(error instanceof Failed || error instanceof RelayError)) throw error;
      const reason = `${event_id}: ${error.message}; ${index} of ${counted(events.length, 'event')} done`;
      throw new Failed(printable(reason), error.code, `Go on with the same command and --run ${run}`);
    }
    progress.to(index + 1, events.length);
  }
  progress.end();
  return redelivered;
}

function summary({ events, channels, lines, notDelivered }: Plan) {
  return { events: events.length, channels: channels.size, lines, not_delivered: notDelivered };
}

function describe(plan: Plan): string {
  const { events, channels, lines, not_delivered } = summary(plan);
  const names = [...plan.channels].slice(0, 5).join(' ');
  const more = channels > 5 ? ' ...' : '';
  const rest = not_delivered > 0 ? `; not delivered and left alone: ${not_delivered}` : '';
  return printable(
    `${counted(events, 'event')}, ${counted(lines, 'line')} in ${counted(channels, 'channel')}${names && `: ${names}${more}`}${rest}`,
  );
}

function queryOf(options: Chosen): Range {
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const value = options[name];
    const time = timeOf(value);
    if (!/^\d{1,15}$/.test(value) && !time) {
      throw new UsageError(`--${name} must be a sequence, or a time like 2026-01-31T12:00:00Z`);
    }
    const text = time ? time.toISOString() : value;
    return { text, isTime: time !== undefined, place: time ? time.getTime() : Number(value) };
  }) as [Bound, Bound];
  // a sequence and a time cannot be compared here
  if (from.isTime === to.isTime && from.place > to.place) throw new UsageError('--to is before --from');
  const { type } = options;
  const channel = channelOf(options);
  return {
    limit: page,
    from: from.text,
    to: to.text,
    ...(type === undefined ? {} : { type }),
    ...(channel === undefined ? {} : { channel }),
  };
}

/** An end of the range, as it is asked for, and as the other end is compared with it. */
interface Bound {
  text: string;
  isTime: boolean;
  place: number;
}

/** A shell takes `#bounties` without quotes for a comment, so the `#` may be left out. */
function channelOf({ channel }: Chosen): string | undefined {
  return channel === undefined ? undefined : channelKey(channel);
}

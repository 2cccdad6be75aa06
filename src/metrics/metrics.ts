import pTimeout from 'p-timeout';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ObservedAppend } from '../../streams/core/index.js';
import { refusals } from '../../streams/refusals.js';
import type { DeliveryObserver } from '../../workers/delivery/in-hand.js';
import type { WebhookObserver } from '../../workers/webhooks/index.js';
import type { AnsweredRequest } from '../http/server.js';
import type { EndedCall } from '../operations/core/call.js';
import { type NetworkObserver, networkCounters } from './network.js';

/** What is read when somebody asks for the metrics, by its name without the prefix. */
const gauges = {
  ready: 'Whether this process should get requests (1) or not (0)',
  stream_bytes: 'Size of a stream of the event log, in bytes',
  stream_limit_bytes: 'Size at which a stream refuses appends, in bytes',
  log_server_write_restarts:
    'Restarts of our own nats-server because it could store nothing more after a write error, since this process began',
  stream_facts: 'Facts that a stream holds',
  stream_last_sequence: 'Sequence of the newest fact of a stream',
  consumer_pending_messages: 'Messages that a worker has not been handed yet',
  consumer_unacknowledged_messages: 'Messages that a worker was handed and has not acknowledged',
  consumer_halted_facts: 'Facts that a worker cannot take; an operator has to look at each',
  projection_position: 'Sequence up to which a build of a read model has folded a stream',
  projection_head: 'Sequence of the newest fact of the stream, as the read model knows it',
  projection_lag_facts: 'Facts of the stream that a build of a read model has not folded yet',
  projection_state:
    'The state in which a build folds a stream is 1, the others 0; absent where it is not folded',
  projection_live: 'Whether queries go to this build of a read model',
  queue_events: 'Events by their status in the delivery queue',
  payments_unresolved: 'Payments that may or may not be settled, or that are settled and wait for a place',
  delivery_lease_held: 'Whether this process holds the bot and its deliveries',
  delivery_events_in_hand: 'Events that are being delivered by this process',
  irc_connected: 'Whether a bot is registered with the IRC server; absent where the lease is not held',
  irc_rooms_expected: 'Channels that a bot should be in; absent where the lease is not held',
  irc_rooms_held: 'Channels that a bot is in',
  gateway_agents: 'Agents that are on the network through this process; absent where the lease is not held',
  irc_oper: 'Whether the IRC server has given the bot operator state; absent where the lease is not held',
} as const;

/** One value of a gauge, with its labels. */
export type Reading = [name: keyof typeof gauges, value: number, labels?: Record<string, string>];

/** A part of the service that can be asked for its readings, and that may be down. */
export interface Gauged {
  part: string;
  read(): Reading[] | Promise<Reading[]>;
}

/** The labels of gauges, by the name, else by its first word. */
const gaugeLabels: Record<string, readonly string[]> = {
  stream: ['stream'],
  consumer: ['consumer'],
  projection: ['projection', 'build', 'stream'],
  projection_live: ['projection', 'build'],
  projection_state: ['projection', 'build', 'stream', 'state'],
  queue: ['status'],
  payments: ['state'],
  irc: ['nick'],
};
/** How long a part may take to answer, in milliseconds; a scrape gives up sooner than its caller does. */
const readBoundMs = 1_500;
/** How often the lag of the event loop is measured. Each look wakes the process, also when nothing else does. */
const lagEveryMs = 50;
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const deliveryBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

/** What this process counts as it goes, and what it reads when it is asked, in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #gauges = new Map<string, Gauge>();
  readonly #up: Gauge;
  #scraping: Promise<string> | undefined;

  readonly #calls: Histogram<'operation' | 'outcome'>;
  readonly #requests: Histogram;
  readonly #events: Counter;
  readonly #conflicting: Counter;
  readonly #appends: Histogram;
  /** What the delivery worker reports its measurements to. */
  readonly delivery: DeliveryObserver;
  /** What the recorder and the keeper of the channels report their measurements to. */
  readonly network: NetworkObserver;
  /** For the worker that posts to webhooks of agents. */
  readonly webhooks: WebhookObserver;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: lagEveryMs });
    for (const [name, help] of Object.entries(gauges)) {
      const labelNames = gaugeLabels[name] ?? gaugeLabels[name.split('_')[0]!] ?? [];
      this.#gauges.set(name, new Gauge({ name: `relay_${name}`, help, labelNames, registers }));
    }
    this.#up = new Gauge({
      name: 'relay_up',
      help: 'Whether a part answered this scrape (1); when not (0), its metrics are absent',
      labelNames: ['part'],
      registers,
    });
    this.#requests = new Histogram({
      name: 'relay_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: requestBuckets,
      registers,
    });
    this.#calls = new Histogram({
      name: 'relay_operation_duration_seconds',
      help: 'Time of a call of an operation, through whichever face; ok, or the code of its refusal',
      labelNames: ['operation', 'outcome'],
      buckets: requestBuckets,
      registers,
    });
    this.#events = new Counter({
      name: 'relay_webhook_events_total',
      help: 'Posted events: accepted, duplicate, anti_echo, unknown_type, or rejected with the code of the answer',
      labelNames: ['outcome', 'code'],
      registers,
    });
    // known from the start, so that the first one is seen as a rise
    for (const outcome of Object.values(webhookOutcomes)) this.#events.inc({ outcome, code: '' }, 0);
    this.#conflicting = new Counter({
      name: 'relay_webhook_conflicts_total',
      help: 'Posted events with a known id and another body than the one that was accepted',
      registers,
    });
    this.#appends = new Histogram({
      name: 'relay_log_append_duration_seconds',
      help: 'Time of an append to the event log with its retries; unavailable: not known to be stored',
      labelNames: ['stream', 'outcome'],
      buckets: requestBuckets,
      registers,
    });
    this.delivery = deliveryCounters(registers);
    this.network = networkCounters(registers);
    this.webhooks = webhookCounters(registers);
  }

  /** What each of our own metrics is, for its reference. */
  get described(): { name: string; help: string; type: string; labels: string[] }[] {
    return this.#registry.getMetricsAsArray().flatMap((metric) => {
      // which the package's types leave out
      const { name, help, type, labelNames } = metric as unknown as Record<
        'name' | 'help' | 'type',
        string
      > & {
        labelNames: string[];
      };
      return name.startsWith('relay_') ? [{ name, help, type, labels: labelNames }] : [];
    });
  }

  readonly request = ({ method, route, status, seconds }: AnsweredRequest): void => {
    // paths that are none are not named: anybody could make up any number of them
    this.#requests.labels(method, route ?? 'none', String(status)).observe(seconds);
  };

  readonly call = ({ operation, outcome, seconds }: EndedCall): void => {
    // a service elsewhere may have codes of its own: any number of them
    const known = outcome === 'ok' || outcome in refusals ? outcome : 'other';
    this.#calls.labels(operation, known).observe(seconds);
  };

  readonly posted = (answer: { status: string } | { code: string }): void => {
    if ('code' in answer) this.#events.inc({ outcome: 'rejected', code: answer.code });
    else this.#events.inc({ outcome: webhookOutcomes[answer.status] ?? answer.status, code: '' });
  };

  readonly conflicting = (): void => this.#conflicting.inc();

  readonly append = ({ stream, outcome, ms }: ObservedAppend): void => {
    this.#appends.labels(stream, outcome).observe(ms / 1_000);
  };

  readonly contentType = this.#registry.contentType;

  /** The metrics as text. A part that fails or is late leaves its own out, and `relay_up` says so. */
  async scrape(parts: readonly Gauged[]): Promise<string> {
    // gauges are filled for one text at a time: who asks meanwhile gets the same
    this.#scraping ??= this.#scrape(parts).finally(() => {
      this.#scraping = undefined;
    });
    return await this.#scraping;
  }

  async #scrape(parts: readonly Gauged[]): Promise<string> {
    const readings = await Promise.all(parts.map((part) => readInTime(part).catch(() => undefined)));
    for (const gauge of this.#gauges.values()) gauge.reset();
    for (const [index, { part }] of parts.entries()) {
      this.#up.set({ part }, readings[index] ? 1 : 0);
      for (const [name, value, labels] of readings[index] ?? []) {
        this.#gauges.get(name)!.set(labels ?? {}, value);
      }
    }
    return await this.#registry.metrics();
  }
}

/** The outcome of a posted event, by the status in its answer, or the reason why it was ignored. */
const webhookOutcomes: Record<string, string> = {
  accepted: 'accepted',
  already_processed: 'duplicate',
  'anti-echo': 'anti_echo',
  'unknown-type': 'unknown_type',
};

function deliveryCounters(registers: Registry[]): DeliveryObserver {
  const latency = new Histogram({
    name: 'relay_delivery_latency_seconds',
    help: 'Time from an event on the log, or its redrive, to a line of it confirmed on IRC',
    buckets: deliveryBuckets,
    registers,
  });
  const lines = new Counter({
    name: 'relay_delivery_lines_confirmed_total',
    help: 'Lines that the network confirmed: by their echo, by a fence after them, or by the history of the channel',
    labelNames: ['via'],
    registers,
  });
  const failed = new Counter({
    name: 'relay_delivery_attempts_failed_total',
    help: 'Lines that the network refused, or did not confirm in time',
    registers,
  });
  const roomless = new Counter({
    name: 'relay_delivery_room_waits_total',
    help: 'Tries of lines whose room cannot be opened, because there are as many as there may be',
    registers,
  });
  const ended = new Counter({
    name: 'relay_delivery_events_total',
    help: 'Events whose delivery came to an end, by how',
    labelNames: ['outcome'],
    registers,
  });
  // tens of thousands a second: their labels are looked up once
  const confirmed = {
    echo: lines.labels('echo'),
    fence: lines.labels('fence'),
    history: lines.labels('history'),
  };
  for (const counter of Object.values(confirmed)) counter.inc(0);
  for (const outcome of ['delivered', 'dead_letter', 'expired']) ended.inc({ outcome }, 0);
  return {
    lineConfirmed: (via, ms) => {
      confirmed[via].inc();
      latency.observe(Math.max(0, ms) / 1_000); // the log server's clock may be ahead by a moment
    },
    attemptFailed: () => failed.inc(),
    roomMissing: () => roomless.inc(),
    eventEnded: (outcome) => ended.inc({ outcome }),
  };
}

function webhookCounters(registers: Registry[]): WebhookObserver {
  const messages = new Counter({
    name: 'relay_agent_webhook_messages_total',
    help: 'Messages to webhooks of agents: delivered, retried (a try that failed and is not the last) or dead',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['delivered', 'retried', 'dead']) messages.inc({ outcome }, 0);
  return { webhookMessage: (outcome) => messages.inc({ outcome }) };
}

async function readInTime({ read }: Gauged): Promise<Reading[]> {
  return await pTimeout(Promise.resolve(read()), { milliseconds: readBoundMs, message: 'no answer in time' });
}

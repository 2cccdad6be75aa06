import type { Projector } from '../../../projections/core/projector.js';
import { queueCounts } from '../../../projections/delivery/queries.js';
import type { Log, StreamDefinition } from '../../../streams/core/index.js';
import { consumerStatuses } from '../../../workers/core/consumers.js';
import type { Gauged, Reading } from '../../metrics/metrics.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { BotHold } from '../bots/bot.js';
import type { DeliveryHold } from '../bots/delivery.js';

/** The parts of the service that have something to measure when somebody asks. */
export interface MeteredParts {
  log: Log;
  /** Absent where the log server is not our own. */
  storing: { readonly restarts: number } | undefined;
  streams: readonly StreamDefinition[];
  projector: Projector;
  /** Absent where nobody reads or folds them. */
  readModels: ReadModels | undefined;
  /** All bots that this process may have. */
  bots: readonly BotHold<unknown>[];
  notReady: () => string | undefined;
}

/** Each part with its readings; asked all at once, so that one that is away takes nothing from the others. */
export function meteredParts(parts: MeteredParts): Gauged[] {
  const { log, storing, streams, projector, readModels, bots, notReady } = parts;
  return [
    { part: 'service', read: () => [['ready', notReady() === undefined ? 1 : 0]] },
    { part: 'log', read: () => readLog(log, streams) },
    ...(storing
      ? [{ part: 'log_server', read: (): Reading[] => [['log_server_write_restarts', storing.restarts]] }]
      : []),
    ...(readModels
      ? [
          { part: 'projections', read: () => readProjections(projector) },
          { part: 'queue', read: () => readModels.read('delivery_queue', readQueue) },
        ]
      : []),
    ...(bots.length > 0 ? [{ part: 'irc', read: () => bots.flatMap(readBot) }] : []),
  ];
}

async function readLog(log: Log, streams: readonly StreamDefinition[]): Promise<Reading[]> {
  const ofStreams = streams.map(async ({ name: stream, whenFull }): Promise<Reading[]> => {
    const { state, config } = await log.ask(() => log.manager.streams.info(stream));
    return [
      ['stream_bytes', state.bytes, { stream }],
      ['stream_facts', state.messages, { stream }],
      ['stream_last_sequence', state.last_seq, { stream }],
      ...(config.max_bytes > 0 && whenFull === 'refuse'
        ? [['stream_limit_bytes', config.max_bytes, { stream }] satisfies Reading]
        : []),
    ];
  });
  const ofConsumers = consumerStatuses(log, streams).then((statuses) =>
    statuses.flatMap(({ worker: consumer, pending, unacknowledged, halted }): Reading[] => [
      ['consumer_pending_messages', pending, { consumer }],
      ['consumer_unacknowledged_messages', unacknowledged, { consumer }],
      ['consumer_halted_facts', halted.length, { consumer }],
    ]),
  );
  return (await Promise.all([...ofStreams, ofConsumers])).flat();
}

async function readProjections(projector: Projector): Promise<Reading[]> {
  const statuses = await projector.status();
  return statuses.flatMap(({ name: projection, schema: build, state, streams }) => [
    ['projection_live', state === 'live' ? 1 : 0, { projection, build }] satisfies Reading,
    ...streams.flatMap(({ stream, position, head, lag, state: now }): Reading[] => {
      const labels = { projection, build, stream };
      return [
        ['projection_position', position, labels],
        ['projection_head', head, labels],
        ['projection_lag_facts', lag, labels],
        ...(now === null ? [] : foldStates.map((one) => foldState(one, now, labels))),
      ];
    }),
  ]);
}

const foldStates = ['folding', 'waiting', 'halted'] as const;

function foldState(state: string, now: string, labels: Record<string, string>): Reading {
  return ['projection_state', state === now ? 1 : 0, { ...labels, state }];
}

const readQueue: Parameters<typeof ReadModels.prototype.read<Reading[]>>[1] = async (sql, schema) =>
  Object.entries(await queueCounts(sql, schema)).map(([status, events]) => [
    'queue_events',
    events,
    { status },
  ]);

/** The state of the deliveries in this process. */
export function readDelivery(delivery: DeliveryHold): Reading[] {
  const held = delivery.held();
  if (!held) return [['delivery_lease_held', 0]];
  return [
    ['delivery_lease_held', 1],
    ['delivery_events_in_hand', held.worker.inHand],
  ];
}

function readBot(bot: BotHold<unknown>): Reading[] {
  const status = bot.held()?.irc.status();
  if (!status) return [];
  const { nick, connected, oper } = status;
  return [
    ['irc_connected', connected ? 1 : 0, { nick }],
    ['irc_oper', oper ? 1 : 0, { nick }],
  ];
}

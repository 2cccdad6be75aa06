import { createHash } from 'node:crypto';
import type { Recorded } from '../../streams/core/index.js';
import { eventToken, type MarketFact, market } from '../../streams/events/index.js';
import { isNick } from '../../streams/irc-grammar.js';
import { judge, moderation, singleSubject } from '../../streams/moderation/index.js';
import { Reactor } from '../core/reactor.js';
import { type GuardOptions, guard } from './options.js';

/** In the bytes of every event that had something withheld, and of few others. */
const sign = Buffer.from('"withheld":{');

/** Records an incident for each event with withheld free text. */
export function guardEvents(options: GuardOptions): Reactor<typeof market, WithheldEvent> {
  const { log, logger } = options;
  return new Reactor<typeof market, WithheldEvent>({
    log,
    logger,
    stream: market,
    durable: 'guard-events',
    maxInHand: 4_096,
    atOnce: 64,
    concerns: ({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(sign),
    plan: (fact) => (fact.data.withheld && !fact.data.test ? [{ key: fact.data.event_id, item: fact }] : []),
    handle: async (event) => {
      await record(options, event);
      return { is: 'done' };
    },
  });
}

async function record(options: GuardOptions, { id, at, data }: WithheldEvent): Promise<void> {
  const { event_id, source, payload, target_channels, withheld } = data;
  const { score, patterns } = withheld!;
  const { publisher_nick: publisher } = payload;
  const found = { score, patterns: patterns.split(','), encoded: false, money: false, talk: false };
  const judged = judge(found, [], at.getTime(), options.thresholds);
  if (!judged) return; // the thresholds were lower when it was withheld
  const incident = {
    ref: `event:${event_id}`,
    person: null,
    nick: typeof publisher === 'string' && isNick(publisher) ? publisher : source,
    channel: target_channels[0] ?? '',
    said_at: at.toISOString(),
    ...judged,
    text_score: score,
    patterns,
    text_hash: createHash('sha256').update(JSON.stringify(payload)).digest('hex'),
    action: 'withhold' as const,
  };
  await options.log.appendOnce(
    moderation,
    singleSubject(`event-${eventToken(event_id)}`),
    { type: 'incident.recorded', data: incident },
    { by: guard, cause: id },
  );
}

type WithheldEvent = Recorded<MarketFact>;

import {
  channelEffects,
  feedChannel,
  isKnownType,
  type MarketEvent,
  payloadAliases,
  routeEvent,
  ShownFields,
  samplePayload,
  sampleTypes,
} from '../../../streams/events/index.js';
import { nearestWord } from '../../words/spelling.js';

/** What its producer may not have meant: the member of the event, and why. */
export interface Warning {
  path: string;
  message: string;
}

/** Fields that count for an event in place of one in its sample, or besides it. */
const others = [...Object.values(payloadAliases).flat(), 'worker_wallet', 'from_nick', 'to_nick'];

/**
 * What looks wrong about an event that is still accepted. Its type is nearly one of the list, or the value of
 * a field shows nothing. Or its line goes to the feed, because no room is named.
 */
export function warningsOf({ event_type, payload }: Pick<MarketEvent, 'event_type' | 'payload'>): Warning[] {
  if (!isKnownType(event_type)) {
    const nearest = nearestWord(event_type.toLowerCase(), sampleTypes);
    const says = 'has no line of its own: everybody sees its payload in #bounties';
    const meant = nearest ? `. Is ${nearest} meant?` : '';
    return [{ path: 'event_type', message: `event_type ${event_type} ${says}${meant}` }];
  }
  const shown = (given: MarketEvent['payload']) => shownOf(event_type, given);
  const counting = [...Object.keys(samplePayload(event_type, '')!), ...others];
  const silent = counting.flatMap((field) => {
    const { [field]: value } = payload;
    if (value === undefined || value === null) return [];
    // the line without a value, with one that fits everywhere, and with a text
    const [nothing, seven, word] = [true, '7', 'seven'].map((other) => shown({ ...payload, [field]: other }));
    if (seven === nothing) return [];
    const isAmount = word === nothing;
    const fields = new ShownFields({ total_bounty: value, title: value });
    if ((isAmount ? fields.totalBounty : fields.title) !== undefined) return [];
    const wanted = isAmount ? 'a number, or decimal text such as "12.50"' : 'a text or a number';
    return [{ path: `payload.${field}`, message: `payload.${field} shows nothing: it should be ${wanted}` }];
  });
  return [...silent, ...lost({ event_type, payload })];
}

/** A line that belongs in a room, but goes to the feed because the payload names no room. */
function lost({ event_type, payload }: Pick<MarketEvent, 'event_type' | 'payload'>): Warning[] {
  const targets = (given: MarketEvent['payload']) => routed(event_type, given).targetChannels;
  if (targets(samplePayload(event_type, 'a1b2c3d4')!).includes(feedChannel)) return [];
  if (!targets(payload).includes(feedChannel)) return [];
  const path = `payload.${event_type.startsWith('relay.') ? 'relay_id' : 'id'}`;
  return [{ path, message: `${path} names no room: the line goes to ${feedChannel}` }];
}

function shownOf(event_type: string, payload: MarketEvent['payload']): string {
  return JSON.stringify([routed(event_type, payload), channelEffects({ event_type, payload })]);
}

function routed(event_type: string, payload: MarketEvent['payload']) {
  return routeEvent({ event_id: '', source: '', event_type, payload });
}

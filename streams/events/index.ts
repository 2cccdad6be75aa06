export { feedChannel, roomTypeOf } from './channel-names.js';
export { eventToken, MarketEvent } from './event.js';
export { type MarketFact, market, marketSubject } from './facts.js';
export {
  channelEffects,
  effectsOf,
  isKnownType,
  missingId,
  type RoomOpening,
  routeEvent,
  withEventBot,
} from './routing.js';

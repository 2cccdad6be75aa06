export { feedChannel, roomTypeOf } from './channel-names.js';
export { channelEffects, effectsOf, type RoomOpening, withEventBot } from './effects.js';
export { eventToken, MarketEvent } from './event.js';
export { type MarketFact, market, marketSubject } from './facts.js';
export { isKnownType, missingId, routeEvent } from './routing.js';

export { channelEffects, effectsOf, type RoomOpening, withEventBot } from './effects.js';
export { eventToken, MarketEvent } from './event.js';
export { type MarketFact, market, marketSubject } from './facts.js';
export { feedChannel, roomTypeOf, routeEvent } from './routing.js';

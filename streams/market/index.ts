export { eventToken, MarketEvent } from './event.js';
export { type MarketFact, market, marketSubject } from './facts.js';
export { routeEvent } from './routing.js';

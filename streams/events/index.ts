export { type ChannelAction, channelActionOf } from './automation.js';
export { eventToken, MarketEvent } from './event.js';
export { type MarketFact, market, marketSubject } from './facts.js';
export { feedChannel, routeEvent } from './routing.js';
export { endedTaskChannel } from './task-end.js';

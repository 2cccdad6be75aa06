export {
  feedChannel,
  isWholeInName,
  relayChannel,
  roomTypeOf,
  subjectsOf,
  taskChannel,
  testChannel,
} from './channel-names.js';
export { type ChannelEffects, channelEffects, effectsOf, type RoomOpening, withEventBot } from './effects.js';
export { eventToken, MarketEvent, type MarketPayload, normalisePayload, payloadAliases } from './event.js';
export { type MarketFact, market, marketSubject } from './facts.js';
export { inDollars, ShownFields } from './formats.js';
export { eventKinds, isKnownType, missingId, ratingTypes, routeEvent, targetChannels } from './routing.js';
export { samplePayload, sampleTypes } from './samples.js';

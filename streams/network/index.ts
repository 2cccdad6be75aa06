export {
  closedAfter,
  closedAt,
  ircSubject,
  isLine,
  lineId,
  linesOf,
  parseLineId,
} from './channel.js';
export { type IrcFact, irc, type LineSighting, type Sighting } from './facts.js';

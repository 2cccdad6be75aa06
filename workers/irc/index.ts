export { IrcConnection, type IrcConnectionOptions, type IrcStatus } from './connection.js';
export type { CommandOutcome, SayOutcome } from './exchange.js';
export type { JoinOptions, JoinOutcome, Replay } from './join.js';
export {
  type ChannelStatus,
  type HistoryLine,
  type JoinSnapshot,
  type ModeNames,
  memberOf,
} from './join-answers.js';
export { type IrcLine, replyTag } from './line.js';
export type { Session } from './session.js';
export { type NetworkSize, networkSize } from './size.js';
export { serverUpSince } from './uptime.js';

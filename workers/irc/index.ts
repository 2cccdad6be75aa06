export { IrcConnection, type IrcConnectionOptions, type IrcStatus } from './connection.js';
export type { Answer, SayOutcome } from './exchange.js';
export type { JoinOutcome, Replay } from './join.js';
export type { ChannelStatus, HistoryLine } from './join-answers.js';
export type { IrcLine } from './line.js';
export type { Session } from './session.js';

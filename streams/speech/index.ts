export {
  type ConnectionState,
  connectionSubject,
  connectionSubjects,
  connections,
  type HeardText,
  inbox,
  inboxSubjects,
  isFor,
  lineSubject,
  lineSubjects,
  lineToken,
  type ReceivedMessage,
  type RequestedLine,
  type SpeechFact,
  speech,
} from './facts.js';
export { isEnd, type LineEnd, type LineState, lineDecider } from './line.js';

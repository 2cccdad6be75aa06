import { type Decider, Refusal } from '../core/index.js';
import { lineSubject, type RequestedLine, type SpeechFact } from './facts.js';

/** What became of a line. */
export type LineEnd = Exclude<
  SpeechFact,
  { type: 'line.requested' | 'connection.changed' | 'message.received' }
>;

/** A line that was asked for, and its end. */
export interface LineState {
  requested?: RequestedLine;
  end?: LineEnd;
}

/** To ask for a line under an id; asking again for the same one changes nothing. */
export interface AskForLine {
  is: 'ask';
  line: RequestedLine;
}

/** To record what became of a line; of two that know, the first is right. */
export interface EndLine {
  is: 'end';
  nick: string;
  end: LineEnd;
}

/** A line is asked for once, and ends once. */
export const lineDecider: Decider<LineState, AskForLine | EndLine, SpeechFact> = {
  initial: () => ({}),
  subject: (command) =>
    command.is === 'ask'
      ? lineSubject(command.line.nick, command.line.id)
      : lineSubject(command.nick, command.end.data.id),
  evolve(state, fact) {
    if (fact.type === 'line.requested') state.requested ??= fact.data;
    else if (isEnd(fact)) state.end ??= fact;
  },
  decide(command, { requested, end }) {
    if (command.is === 'end') return end ? undefined : command.end;
    const { line } = command;
    if (!requested) return { type: 'line.requested', data: line };
    const { to, text, action, reply_to, person } = requested;
    const isSame = to === line.to && text === line.text && action === line.action;
    // who has the nick of somebody else now is not told of their lines
    if (!isSame || person !== line.person || reply_to?.line !== line.reply_to?.line)
      throw new Refusal('idempotency_key_reused');
    return undefined;
  },
};

/** Whether a fact is the end of a line. */
export function isEnd(fact: SpeechFact): fact is LineEnd {
  return fact.type === 'line.shown' || fact.type === 'line.refused' || fact.type === 'line.expired';
}

import { type Log, Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { HeardText } from '../../../streams/speech/index.js';
import { type Gateway, personOfAgent, type Speaker } from '../../../workers/speech/index.js';
import type { Caller } from '../core/caller.js';
import type { Refusals } from '../core/description.js';
import { Nick } from '../core/fields.js';
import { operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';

/** What speaking works with. */
export interface SpeechParts {
  log: Log;
  speech: {
    gateway: Gateway;
    /** Whether the operator wants it; nobody answers if it is not configured. */
    isOn: boolean;
    /** Whether a nick is reserved for a bot or a service, or could be taken for one of them. */
    isKept(nick: string): boolean;
    /** Whether a nick is one of the network's services, to which people write passwords. */
    isService(nick: string): boolean;
    /** What all but operators are shown of what was heard. */
    heard: HeardText;
    /** What others are shown of a text: itself, or that it was withheld as an attack on them. */
    screen(text: string): string;
    /** A recorded line of a channel by its id or its msgid, if the caller may read it; else null. */
    lineOf(
      channel: string,
      line: string,
      caller: Caller,
    ): Promise<{ id: string; msgid: string | null } | null>;
  };
}

/** Makes operations of callers who speak as a nick. */
export const define = operationsOf({ tag: 'IRC', access: scope('speak', { as: 'nick' }) });

/** The nick that the caller speaks as. */
export const asNick = Nick.optional().describe('The nick that you speak as; your own when left out');

/** The refusals of everything that is done as a nick. */
export const ofSpeaker: Refusals = { nickname_reserved: true, gateway_not_configured: true };
/** The refusals of everything that needs the network. */
export const ofNetwork: Refusals = {
  ...ofSpeaker,
  nick_in_use: true,
  refused_by_network: true,
  irc_unavailable: true,
  answer_overdue: true,
  too_many_agents: true,
};
/** The speaker. Throws if nobody can speak here, if no nick is named, and for nicks of bots and services. */
export function speaker(
  given: string | undefined,
  caller: Caller,
  { isOn, isKept }: SpeechParts['speech'],
): Speaker {
  if (!isOn) throw new Refusal('gateway_not_configured');
  const nick = given ?? caller.nick;
  if (nick === undefined) {
    const message = 'nick is missing: name it, or send an agent key, which acts as its own nick';
    throw new Refusal('validation_failed', message, { details: [{ path: 'nick', message }] });
  }
  if (isKept(casefold(nick))) throw new Refusal('nickname_reserved');
  const { actor: by } = caller;
  if (caller.is !== 'agent') return { nick, by };
  return { nick, by, person: personOfAgent(caller) };
}

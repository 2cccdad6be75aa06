import { boundedCache } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { ConnectionState } from '../../streams/speech/index.js';
import type { Agent } from './agent.js';
import type { Speaker } from './requests.js';

/** The last known state of an agent that an earlier holder left, and the actors of facts that used it. */
export interface LeftAgent {
  state: ConnectionState;
  users: ReadonlySet<string>;
}

/** What an agent has when it comes. */
export interface AgentState extends Pick<ConnectionState, 'channels' | 'away'> {
  users: ReadonlySet<string>;
  nick: string;
  /** Whoever has the nick, if it is left out. */
  person?: string | undefined;
}

/** Agents that are remembered without being on record as being there. */
const mostSilent = 10_000;

/**
 * Agents that are not on the network, and come back into their channels. An earlier holder had them, they were silent for long,
 * or the network did not let them in. By casefolded nick.
 */
export class FormerAgents {
  /** Resolves when the record of an earlier holder has been read. */
  #reading: Promise<unknown> = Promise.resolve();
  #left = new Map<string, LeftAgent>();
  readonly #silent = boundedCache<string, ConnectionState>(mostSilent);

  /** Takes note of the agents that an earlier holder left. */
  takeOver(left: Promise<readonly LeftAgent[]>): void {
    this.#reading = left.then((all) => {
      this.#left = new Map(all.map((one) => [casefold(one.state.nick), one]));
    });
  }

  /** Resolves when all that an earlier holder left is known. */
  async known(): Promise<void> {
    await this.#reading;
  }

  /** Takes note of an agent that left because it was silent, or was not let in. */
  remember(silent: ConnectionState): void {
    this.#silent.set(casefold(silent.nick), silent);
  }

  /** What a speaker gets back. Somebody else who has the nick now gets nothing. */
  stateFor(speaker: Speaker): AgentState {
    const key = casefold(speaker.nick);
    const was = this.#left.get(key);
    if (was && isSame(was.state, speaker)) return { ...was.state, users: was.users };
    const silent = this.#silent.get(key);
    const users = new Set<string>();
    if (!silent || !isSame(silent, speaker))
      return { nick: speaker.nick, person: speaker.person, channels: [], users, away: null };
    // an operator who names no person speaks for that one
    return { nick: speaker.nick, person: silent.person, channels: silent.channels, users, away: null };
  }

  /** Whether an agent of an earlier holder must still be brought back. */
  isLeft(nick: string): boolean {
    return this.#left.has(casefold(nick));
  }

  /** An agent is here again, or does not come back. Answers what was known of it. */
  forget(nick: string): ConnectionState | undefined {
    const key = casefold(nick);
    const was = this.#left.get(key)?.state ?? this.#silent.get(key);
    this.#left.delete(key);
    this.#silent.delete(key);
    return was;
  }
}

/** Whether an agent belongs to the speaker; an operator speaks for any agent. */
export const isSame = (agent: Pick<Agent, 'person'>, { person }: Pick<Speaker, 'person'>): boolean =>
  person === undefined || person === agent.person;

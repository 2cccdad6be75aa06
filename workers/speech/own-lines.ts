import type { Logger } from 'pino';
import { boundedCache, type Log } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { lineSubjects, speech } from '../../streams/speech/index.js';

/** Lines that are known at most: those of a day are on record. */
const mostLines = 100_000;

/** Which lines of the last day are whose, by the msgids that the network gave them: so it is known who is answered. */
export class OwnLines {
  readonly #log: Log;
  readonly #logger: Logger;
  /** The casefolded nick by the msgid. */
  readonly #nicks = boundedCache<string, string>(mostLines);
  /** Resolves when the lines are known that were said before. */
  #known = Promise.resolve();
  #isKnown = true;

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Learns what was said before, also by other processes. */
  start(): void {
    this.#isKnown = false;
    this.#known = this.#learn()
      .catch((err) => this.#logger.warn({ err }, 'answers to earlier lines of agents are not recognised'))
      .then(() => {
        this.#isKnown = true;
      });
  }

  /** A nick has said a line. */
  add(nick: string, msgid: string): void {
    this.#nicks.set(msgid, casefold(nick));
  }

  /** Whether a line is one of a nick. */
  has(nick: string, msgid: string): boolean {
    return this.#nicks.get(msgid) === casefold(nick);
  }

  /** Calls back as soon as it can be told which lines are whose: at once, or when that is read. */
  whenKnown(then: () => void): void {
    if (this.#isKnown) then();
    else void this.#known.then(then);
  }

  async #learn(): Promise<void> {
    for await (const { type, data, subject } of this.#log.subject(speech, lineSubjects)) {
      const nick = subject.split('.')[2];
      if (type === 'line.shown' && data.msgid !== null && nick) this.add(nick, data.msgid);
    }
  }
}

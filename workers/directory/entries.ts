import { type Log, type Position, Refusal } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import {
  directory,
  type EntryCommand,
  type EntryWords,
  entryDecider,
  isReservedAbility,
  textOfEntry,
} from '../../streams/directory/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { Screening, type Thresholds } from '../../streams/moderation/index.js';

/** What entries are kept with. */
export interface AgentEntriesOptions {
  log: Log;
  /** From which points on free text is withheld. */
  thresholds: Thresholds;
  /** Nicks of our own bots: no ability is called so. */
  bots: readonly string[];
  /** The wallet that is linked with a nick (casefolded), in lower case; null if the nick has confirmed no link. */
  walletOf(nick: string): Promise<string | null>;
}

/** Who asks: the name for the facts, and the id of the request. */
export interface Asking {
  by: string;
  cause?: string | null;
}

/** The commands of the directory, from whichever door they come; nicks are casefolded, errors are the decider's. */
export class AgentEntries {
  readonly #options: AgentEntriesOptions;
  readonly #bots: ReadonlySet<string>;
  readonly #lock = new KeyedLock();
  #position: Position | undefined;

  constructor(options: AgentEntriesOptions) {
    this.#options = options;
    this.#bots = new Set(options.bots.map(casefold));
  }

  /** How far this process has written, for reads that are to see it. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** Publishes the whole entry of a nick. Free text that looks like an attack on its readers is left out. */
  async publish(nick: string, words: EntryWords, asking: Asking): Promise<void> {
    const screened = this.#screened(words);
    await this.#handle(
      { is: 'publish', nick, wallet: await this.#options.walletOf(nick), words: screened },
      asking,
    );
  }

  /** Publishes the abilities of a nick, and leaves the rest of its entry as it is. */
  async setAbilities(nick: string, abilities: string[], asking: Asking): Promise<void> {
    this.#requireUsable(abilities);
    const wallet = await this.#options.walletOf(nick);
    await this.#handle({ is: 'set abilities', nick, wallet, abilities }, asking);
  }

  /** Takes the entry of a nick back. */
  async withdraw(nick: string, asking: Asking): Promise<void> {
    await this.#handle({ is: 'withdraw', nick }, asking);
  }

  #screened(words: EntryWords): EntryWords {
    const { abilities, card_url } = words;
    this.#requireUsable(abilities);
    this.#requireHarmless('card_url', { card_url });
    const made = (screen: (text: string) => string): EntryWords => {
      const said = (text: string | null) => (text === null ? null : screen(text));
      return { ...words, ask: said(words.ask), price: said(words.price), hours: said(words.hours) };
    };
    return new Screening(this.#options.thresholds).screened(made, textOfEntry);
  }

  #requireUsable(abilities: string[]): void {
    this.#requireHarmless('abilities', { abilities });
    const reserved = abilities.find((word) => isReservedAbility(word, this.#bots));
    if (reserved !== undefined) refuse('abilities', `${reserved} is not an ability: it is reserved`);
  }

  /** Words for abilities and addresses cannot be left out of an entry. */
  #requireHarmless(path: string, words: Partial<EntryWords>): void {
    const text = textOfEntry({ ...silent, ...words });
    if (new Screening(this.#options.thresholds).screen(text) === text) return;
    refuse(path, `${path} looks like an attack on those who read it`);
  }

  async #handle(command: EntryCommand, origin: Asking): Promise<void> {
    const { log } = this.#options;
    const { position } = await this.#lock.run(entryDecider.subject(command), () =>
      log.handle(directory, entryDecider, command, origin),
    );
    if (position.seq > (this.#position?.seq ?? 0)) this.#position = position;
  }
}

function refuse(path: string, message: string): never {
  throw new Refusal('entry_withheld', message, { details: [{ path, message }] });
}

const silent = { abilities: [], ask: null, card_url: null, languages: [], price: null, hours: null };

import { Unavailable } from '../../streams/core/index.js';
import { cutToBytes, isChannel, isNick, lineBudget } from '../../streams/irc-grammar.js';
import type { Answered, CommandOutcome, Exchange, LineTags, SayOutcome } from './exchange.js';
import type { Hands } from './hands.js';
import { type JoinContext, type JoinOptions, type JoinOutcome, joinChannels } from './join.js';
import type { ModeNames } from './join-answers.js';
import { commandLine, escapeTag, eventTag, replyTag } from './line.js';
import type { Link } from './link.js';

// Of the 4,094 bytes for client tags, without a label and the tag's name.
const maxTagBytes = 4_000;
/** Mode changes on one line: of a server that does not say how many it takes, and never more than this. */
const fewModes = 3;
const manyModes = 20;

/**
 * One registered connection under our nick. It ends with its connection, and so does all that is open in it.
 */
export class Session {
  /** Whether the server puts the sender's account on each message. */
  readonly tagsAccounts: boolean;
  /** Whether the server passes on which line a line answers. */
  readonly carriesReplies: boolean;
  /** Whether nicks are compared here as we compare them: `{` as `[`, and so on. */
  readonly #foldsAsWeDo: boolean;
  readonly #link: Link;
  readonly #exchange: Exchange;
  readonly #context: JoinContext;
  readonly #tags: boolean;
  /** Joins run one after another: they remove user mode +N and put it back. */
  #joining: Promise<unknown> = Promise.resolve();

  /**
   * `id` counts the sessions of one IrcConnection, from 1. `quiet`: user mode +N is set, so that channels do
   * not replay their history to us. `hands`: who helps us into channels, where we are no operator.
   */
  constructor(
    readonly id: number,
    link: Link,
    exchange: Exchange,
    { quiet, hands }: { quiet: boolean; hands: Hands | undefined },
  ) {
    this.#link = link;
    this.#exchange = exchange;
    const { network } = link.client;
    this.#tags = network.supportsTag(eventTag);
    this.carriesReplies = exchange.kind === 'labels' && network.supportsTag(replyTag);
    this.#foldsAsWeDo = network.options.CASEMAPPING === 'rfc1459';
    this.tagsAccounts = network.cap.isEnabled('account-tag');
    const channelModes = network.options.CHANMODES ?? [];
    this.#context = {
      self: link.self,
      quiet,
      // Known servers without labels have no such commands, and ngIRCd fines us for asking.
      forces: exchange.kind === 'labels',
      replays: exchange.kind === 'labels' && channelModes[2]?.includes('H') === true,
      channelModes,
      prefixes: network.options.PREFIX,
      command: (line) => exchange.command(line),
      hands,
      overhear: (work) => link.overhear(work),
    };
  }

  /** Whether two people of this network may have a nick that is one to us, so that neither can be told from the other. */
  isAmbiguous(nick: string): boolean {
    return !this.#foldsAsWeDo && /[[\]\\~{}|^]/.test(nick);
  }

  /** Aborted when the session is over, with an Error that says why. */
  get lost(): AbortSignal {
    return this.#link.lost;
  }

  get nick(): string {
    return this.#link.self.nick;
  }

  get oper(): boolean {
    return this.#link.self.oper;
  }

  /** How lines are confirmed: by labelled echoes, or by a PING fence on servers without labels. */
  get confirmation(): 'labels' | 'fence' {
    return this.#exchange.kind;
  }

  /** Whether operators of this server can force changes in channels: SAJOIN, SAPART, SAMODE, SATOPIC. */
  get forces(): boolean {
    return this.#context.forces;
  }

  /** The server's names for its channel modes and prefixes. */
  get modeNames(): ModeNames {
    return this.#context;
  }

  /** How many mode changes with a parameter the server takes on one line (ISUPPORT MODES). */
  get mostModes(): number {
    const told = this.#link.client.network.options.MODES;
    const unlimited = told === true || told === '';
    return unlimited ? manyModes : Math.min(manyModes, Number(told) || fewModes);
  }

  /** The channels we are in now, as the server spells them. */
  get channels(): string[] {
    return this.#link.self.channels;
  }

  /** How many channels we are in now. */
  get rooms(): number {
    return this.#link.self.rooms;
  }

  /** Whether we are in this channel now. */
  isIn(channel: string): boolean {
    return this.#link.self.isIn(channel);
  }

  /**
   * Sends one line and answers its outcome. `text` is cut at a grapheme border to what fits on one line.
   * `event` (its id here) and `reply` (the msgid of the line that it answers) are sent as client tags if the server takes them. At most one line per channel should be
   * under way: the caller ensures that.
   */
  async say(channel: string, text: string, event?: string, reply?: string): Promise<SayOutcome> {
    return await this.announce(channel, text, { event, reply });
  }

  /** The same, and gives the line away as the network shows it. */
  async announce(channel: string, text: string, tags: LineTags): Promise<SayOutcome> {
    if (!isChannel(channel)) return { is: 'refused', code: '476', error: 'Not a channel name' };
    return await this.#send(channel, text, tags);
  }

  /** The same to a nick alone. */
  async tell(nick: string, text: string, event?: string, reply?: string): Promise<SayOutcome> {
    if (!isNick(nick)) return { is: 'refused', code: '401', error: 'Not a nick' };
    return await this.#send(nick, text, { event, reply });
  }

  #send(to: string, text: string, tags: LineTags): Promise<SayOutcome> | SayOutcome {
    const oneLine = /[\r\n\0]/.test(text) ? text.replace(/[\r\n\0]+/g, ' ') : text;
    const line = cutToBytes(oneLine, lineBudget({ mask: this.#link.self.mask, channel: to }));
    if (line === '') return { is: 'refused', code: '412', error: 'No text to send' };
    const event = this.#tags && tags.event !== undefined ? escapeTag(tags.event) : undefined;
    const reply = this.carriesReplies && tags.reply !== undefined ? escapeTag(tags.reply) : undefined;
    if (Buffer.byteLength(`${event ?? ''}${reply ?? ''}`) > maxTagBytes)
      return { is: 'refused', code: '417', error: 'Tag too long' };
    return this.#exchange.say(to, line, { event, reply, heard: tags.heard });
  }

  /** Joins channels; as an operator, or with the hands of one, also those that refuse us. */
  join(channels: readonly string[], options: JoinOptions): Promise<Map<string, JoinOutcome>> {
    const joined = this.#joining.then(() => joinChannels(this.#context, channels, options));
    this.#joining = joined.catch(() => undefined);
    return joined;
  }

  /**
   * Any other command; the last part may hold spaces. Rejects with a TypeError if the parts do not make one
   * line.
   */
  async command(...parts: string[]): Promise<CommandOutcome> {
    return this.#exchange.command(commandLine(parts));
  }

  /**
   * A command whose answer is needed. Throws `irc_unavailable` if the session ends or stays silent instead.
   */
  async ask(...parts: string[]): Promise<Answered> {
    const answer = await this.command(...parts);
    if (answer.is !== 'answered') throw new Unavailable('irc_unavailable');
    return answer;
  }
}

import { casefold, isChannel } from '../../streams/irc-grammar.js';
import type { CommandOutcome } from './exchange.js';
import type { Hands } from './hands.js';
import {
  type ChannelStatus,
  type HistoryLine,
  hasMode,
  JoinAnswers,
  type JoinSnapshot,
  type ModeNames,
  parameterOf,
  Target,
} from './join-answers.js';
import { commandLine, grouped, type IrcLine } from './line.js';
import type { Self } from './self.js';

/**
 * What a channel's history showed of us, oldest first. `from` is the time of the oldest line of anyone, if
 * the history was full: older lines may have dropped out of it. Null if it was not full.
 */
export interface Replay {
  lines: HistoryLine[];
  from: Date | null;
}

/** How to join; by default with voice and without histories. */
export interface JoinOptions {
  /** Also read what the channels' histories show of our lines. */
  history: boolean;
  /** Only to look on: without voice, and with a snapshot of the channels and everybody's lines. */
  witness?: boolean;
  /** Stay where we are rather than read a history, if the channel might not let us in again. */
  stays?: boolean;
  /**
   * Whether we may make a channel. We leave one at once that we may not make, and whoever makes it has to be waited for. By
   * default we may make each.
   */
  mayMake?: (channel: string) => boolean;
}

/**
 * The outcome of joining one channel. `history` is null if none was requested or none is available. None is
 * available in a new channel, or in one that keeps none. It is also missing if we were in the channel already
 * and it would not have outlived our leaving. `snapshot` is present after a join as a witness.
 */
export type JoinOutcome =
  | {
      is: 'joined';
      created: boolean;
      modes: string;
      status: ChannelStatus;
      history: Replay | null;
      snapshot?: JoinSnapshot;
    }
  | { is: 'refused'; code: string; error: string }
  /**
   * It is closed to us, silent or not there, and who can let us in, let us speak or has to make it cannot be asked now. Or somebody
   * has kicked us at once.
   */
  | { is: 'waiting' }
  | { is: 'lost' };

/** What joining needs of its connection. */
export interface JoinContext extends ModeNames {
  self: Self;
  /** Whether an operator has SAJOIN and SAMODE here. */
  forces: boolean;
  /** Whether the server replays history on a join, in batches that can be told apart. */
  replays: boolean;
  /** Whether our user mode +N holds the replay back until it is removed. */
  quiet: boolean;
  command(line: string): Promise<CommandOutcome>;
  /** Who lets us into channels, where we are no operator. */
  hands: Hands | undefined;
  /** The lines that answer nothing and come during some work. */
  overhear(work: () => Promise<unknown>): Promise<IrcLine[]>;
}

const maxLineBytes = 495;
/** Names in one SAJOIN: InspIRCd silently drops those beyond its <security:maxtargets> (20 by default). */
export const maxForced = 20;
/**
 * Refusals for the name itself, which no operator command overcomes. A name that operators closed (926) stays
 * closed.
 */
const nameAtFault = new Set(['403', '476', '479', '926']);
/** The channel mode that replays a channel's last lines to new members, and how many lines for how long. */
export const historyMode = { flag: 'H', value: '100:1d' };
/** Channel modes by which somebody who was in a channel may not be let in again. */
const closingModes = 'iklROz';
/** The channel mode that keeps a channel when it is empty. */
export const permanentMode = 'P';

/** Under which only operators of the channel and voiced members speak. */
const moderatedMode = 'm';

/** The words of a mode change for a channel that we have made, as far as the server has these modes; with voice for a nick. */
export function openingModes(channelModes: readonly string[], voiced: string | undefined): string[] {
  const history = channelModes[2]?.includes(historyMode.flag) === true;
  const permanent = channelModes[3]?.includes(permanentMode) === true;
  const flags = `+nt${permanent ? permanentMode : ''}${history ? historyMode.flag : ''}${voiced ? 'v' : ''}`;
  return [flags, ...(history ? [historyMode.value] : []), ...(voiced ? [voiced] : [])];
}

/** Joins many channels in few lines; the map has one outcome for each given name. */
export async function joinChannels(
  context: JoinContext,
  names: readonly string[],
  options: JoinOptions,
): Promise<Map<string, JoinOutcome>> {
  const { witness = false, stays = false, mayMake = () => true } = options;
  const targets = new Map<string, Target>();
  for (const name of names) if (isChannel(name)) targets.set(casefold(name), new Target(name, witness));
  const history = options.history && context.replays;
  await new Joining(context, targets, { history, voice: !witness, stays, mayMake }).run();
  return new Map(
    names.map((name) => {
      const target = targets.get(casefold(name));
      const outcome: JoinOutcome = target
        ? outcomeOf(target, history, context)
        : { is: 'refused', code: '476', error: 'Not a channel name' };
      return [name, outcome];
    }),
  );
}

/** One run of `joinChannels`. */
class Joining {
  readonly #context: JoinContext;
  readonly #targets: Target[];
  readonly #history: boolean;
  /** Whether we want to be able to speak. */
  readonly #voice: boolean;
  readonly #stays: boolean;
  readonly #mayMake: (channel: string) => boolean;
  readonly #answers: JoinAnswers;

  constructor(
    context: JoinContext,
    targets: ReadonlyMap<string, Target>,
    {
      history,
      voice,
      stays,
      mayMake,
    }: { history: boolean; voice: boolean; stays: boolean; mayMake: (channel: string) => boolean },
  ) {
    this.#context = context;
    this.#targets = [...targets.values()];
    this.#history = history;
    this.#voice = voice;
    this.#stays = stays;
    this.#mayMake = mayMake;
    this.#answers = new JoinAnswers(targets, context.self, context);
  }

  async run(): Promise<void> {
    const { quiet, self } = this.#context;
    const toggle = this.#history && quiet;
    await this.#each(this.#unjoined(), (target) => this.#lookAt(target));
    if (toggle) await this.#userMode('-N');
    await this.#enter(this.#unjoined());
    // Somebody may have forced us into a channel meanwhile: the server then does not answer a JOIN.
    await this.#each(this.#unjoined(), (target) => this.#lookAt(target));
    await this.#enter(this.#unjoined().filter((target) => !target.refused));
    if (toggle) await this.#userMode('+N');
    const joined = this.#targets.filter(({ name, joined }) => joined && self.isIn(name));
    for (const target of joined) target.waiting = false;
    await this.#each(joined, (target) => this.#setUp(target));
    // somebody has kicked us meanwhile: neither its modes nor its history are known
    for (const target of this.#targets)
      if (target.joined && !self.isIn(target.name)) Object.assign(target, { joined: false, waiting: true });
  }

  get #forces(): boolean {
    return this.#context.forces && this.#context.self.oper;
  }

  /** Who does for us what operators do, where we are none. */
  get #hands(): Hands | undefined {
    return this.#context.forces && !this.#context.self.oper ? this.#context.hands : undefined;
  }

  #unjoined(): Target[] {
    return this.#targets.filter(({ joined, lost }) => !joined && !lost);
  }

  /**
   * A channel that we are in already. If history is wanted, we leave it and come back, if it outlives our
   * leaving.
   */
  async #lookAt(target: Target): Promise<void> {
    const { self } = this.#context;
    if (!self.isIn(target.name)) return;
    target.members = 0;
    target.snapshot?.members.splice(0);
    const questions = ['NAMES', 'MODE', ...(target.snapshot ? ['TOPIC'] : [])];
    await Promise.all(questions.map((question) => this.#send(target, question, target.name)));
    const survives = target.members > 1 || hasMode(target.modes, permanentMode);
    const isClosed = [...closingModes].some((flag) => hasMode(target.modes, flag));
    if (
      this.#history &&
      survives &&
      hasMode(target.modes, historyMode.flag) &&
      !(this.#stays && isClosed && !this.#forces && !this.#hands)
    ) {
      await this.#send(target, 'PART', target.name);
      target.refused = undefined;
    }
    target.joined = self.isIn(target.name);
  }

  async #enter(targets: Target[]): Promise<void> {
    await Promise.all(packed(targets, 'JOIN ').map((group) => this.#sendAll(group, 'JOIN', listOf(group))));
    const refused = targets.filter((target) => target.refused && !nameAtFault.has(target.refused.code));
    if (this.#hands && refused.length > 0) await this.#beLetIn(refused, this.#hands);
    if (!this.#forces) return;
    const { nick } = this.#context.self;
    await Promise.all(
      packed(refused, `SAJOIN ${nick} `, maxForced).map((group) =>
        this.#sendAll(group, 'SAJOIN', nick, listOf(group)),
      ),
    );
  }

  /** Asks an operator. A bot that does not come in although the operator has the power waits: the server may be a far one. */
  async #beLetIn(targets: Target[], hands: Hands): Promise<void> {
    const { nick } = this.#context.self;
    const channels = targets.map(({ name }) => name);
    let can = true;
    await this.#overheard(async () => {
      can = await hands.letIn({ nick, channels }).catch(() => true);
    });
    for (const target of targets) target.waiting = can && !target.joined;
  }

  /** Lets others do something, and reads what the server tells us of it. */
  async #overheard(work: () => Promise<unknown>): Promise<void> {
    const lines = await this.#context.overhear(work);
    this.#answers.read({ is: 'answered', lines, error: null });
  }

  /**
   * Reads the modes, sets those of a channel that we have created, and makes sure that +m never silences us.
   */
  async #setUp(target: Target): Promise<void> {
    const { self, channelModes } = this.#context;
    if (target.modes === '') await this.#send(target, 'MODE', target.name);
    // A room where we are alone and that is not kept open by +P did not exist before us.
    target.created = target.entered && target.members === 1 && !hasMode(target.modes, permanentMode);
    if (target.created && !this.#mayMake(target.name)) {
      await this.#send(target, 'PART', target.name);
      Object.assign(target, { joined: false, waiting: true });
      return;
    }
    const voice = this.#voice && target.status === 'none';
    const hands = this.#hands;
    if (!target.created) {
      if (this.#forces && voice) await this.#send(target, 'SAMODE', target.name, '+v', self.nick);
      if (hands && voice && hasMode(target.modes, moderatedMode)) {
        const can = await this.#letSpeak(target, hands);
        target.waiting = can && target.status === 'none';
      }
      return;
    }
    const modes = openingModes(channelModes, voice ? self.nick : undefined);
    if (this.#forces) await this.#send(target, 'SAMODE', target.name, ...modes);
    else if (hands) await this.#letSpeak(target, hands);
    else if (target.status === 'op') await this.#send(target, 'MODE', target.name, '+nt');
    else return;
    await this.#send(target, 'MODE', target.name);
  }

  /** Asks an operator. Answers whether one has the power, or may have it. */
  async #letSpeak({ name, created }: Target, hands: Hands): Promise<boolean> {
    const wanted = { nick: this.#context.self.nick, channel: name, isNew: created };
    let can = true;
    await this.#overheard(async () => {
      can = await hands.letSpeak(wanted).catch(() => true);
    });
    return can;
  }

  async #userMode(mode: string): Promise<void> {
    await this.#context.command(commandLine(['MODE', this.#context.self.nick, mode]));
  }

  #send(target: Target, ...parts: string[]): Promise<void> {
    return this.#sendAll([target], ...parts);
  }

  async #sendAll(targets: Target[], ...parts: string[]): Promise<void> {
    const answer = await this.#context.command(commandLine(parts));
    this.#answers.read(answer);
    if (answer.is !== 'answered') for (const target of targets) target.lost = true;
  }

  async #each(targets: Target[], work: (target: Target) => Promise<void>): Promise<void> {
    await Promise.all(targets.map(work));
  }
}

function outcomeOf(target: Target, history: boolean, names: ModeNames): JoinOutcome {
  const { joined, lost, waiting, created, modes, status, snapshot } = target;
  if (lost) return { is: 'lost' };
  if (waiting) return { is: 'waiting' };
  if (joined) {
    const replay = history ? replayOf(target, names) : null;
    return { is: 'joined', created, modes, status, history: replay, ...(snapshot ? { snapshot } : {}) };
  }
  return { is: 'refused', ...(target.refused ?? { code: '000', error: 'The server did not answer' }) };
}

function replayOf(
  { entered, created, modes, ours, replayed, oldest }: Target,
  names: ModeNames,
): Replay | null {
  if (!entered || created || !hasMode(modes, historyMode.flag)) return null;
  const kept = Number.parseInt(parameterOf(names, modes, historyMode.flag) ?? '0', 10);
  return { lines: ours, from: replayed >= kept ? oldest : null };
}

const listOf = (targets: Target[]): string => targets.map(({ name }) => name).join(',');

/** Groups of at most `most` channels whose comma-separated names fit on one line after `command`. */
function packed(targets: Target[], command: string, most?: number): Target[][] {
  return grouped(targets, ({ name }) => name, maxLineBytes - Buffer.byteLength(command), most);
}

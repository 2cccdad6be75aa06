import { casefold } from '../../streams/irc-grammar.js';
import type { CommandOutcome } from './exchange.js';
import { type IrcLine, isError, textOf } from './line.js';
import type { Self } from './self.js';

/** A line of our own nick that a channel's history replayed; `at` is in whole seconds, as histories keep it. */
export interface HistoryLine {
  channel: string;
  tag: string | null;
  msgid: string | null;
  text: string;
  at: Date;
}

/** What our nick may do in a channel: operator, voiced (speaks under +m) or neither. */
export type ChannelStatus = 'op' | 'voice' | 'none';

/** What the server calls its channel modes and prefixes (ISUPPORT CHANMODES in its four classes, PREFIX). */
export interface ModeNames {
  channelModes: readonly string[];
  prefixes: readonly { symbol: string; mode: string }[];
}

/** One change of a channel's modes. */
export interface ModeChange {
  isSet: boolean;
  flag: string;
  parameter: string | undefined;
}

/** The changes of a MODE line, from its flags and parameters. Every mode with a parameter takes the next one. */
export function modeChanges(
  { channelModes, prefixes }: ModeNames,
  [flags = '', ...parameters]: readonly string[],
): ModeChange[] {
  const always = `${channelModes[0] ?? ''}${channelModes[1] ?? ''}${prefixes.map(({ mode }) => mode).join('')}`;
  const changes: ModeChange[] = [];
  let isSet = true;
  for (const flag of flags) {
    if (flag === '+' || flag === '-') isSet = flag === '+';
    else {
      const takes = always.includes(flag) || (isSet && channelModes[2]?.includes(flag));
      changes.push({ isSet, flag, parameter: takes ? parameters.shift() : undefined });
    }
  }
  return changes;
}

/** The parameter of a mode that a channel has, from its modes as in numeric 324; `undefined` without one. */
export function parameterOf(names: ModeNames, modes: string, wanted: string): string | undefined {
  return modeChanges(names, modes.split(' ')).find(({ isSet, flag }) => isSet && flag === wanted)?.parameter;
}

/** What a channel looks like to a client that enters it. */
export interface JoinSnapshot {
  /** With their prefix before the nick, ours among them: `@alice`. */
  members: string[];
  /** Empty without a topic. */
  topic: string;
  /** What the channel's history replayed of everybody, oldest first. */
  lines: IrcLine[];
  /** When the server told who is there, as it tags its lines; `undefined` if it does not. */
  time?: string | undefined;
}

/** One channel that is being joined, and what the server has said about it so far. */
export class Target {
  joined = false;
  /** A JOIN of ours was seen in this run, so NAMES and replay tell how we found the channel. */
  entered = false;
  created = false;
  /** An answer about it is missing. */
  lost = false;
  /** Nobody could be asked to let us in or to let us speak, or the server has not done it yet. */
  waiting = false;
  refused: { code: string; error: string } | undefined;
  members = 0;
  status: ChannelStatus = 'none';
  /** As in numeric 324: `+ntH 100:1d`; empty while unknown. */
  modes = '';
  replayed = 0;
  oldest: Date | null = null;
  ours: HistoryLine[] = [];
  /** Filled if the caller wants it: joining needs much less. */
  readonly snapshot: JoinSnapshot | undefined;

  /** `name` as the caller spelled it. */
  constructor(
    readonly name: string,
    witness: boolean,
  ) {
    this.snapshot = witness ? { members: [], topic: '', lines: [] } : undefined;
  }
}

/** Whether a mode string with parameters (`+ntH 100:1d`) has this flag. */
export const hasMode = (modes: string, flag: string): boolean => modes.split(' ', 1)[0]!.includes(flag);

/**
 * Reads what the IRC server answers to `JOIN` and to the questions after it. Each answer is written into the `Target`
 * of its channel: whether we are in, its members, topic, modes and replayed lines.
 */
export class JoinAnswers {
  constructor(
    private readonly targets: ReadonlyMap<string, Target>,
    private readonly self: Self,
    private readonly names: ModeNames,
  ) {}

  read(answer: CommandOutcome): void {
    if (answer.is !== 'answered') return;
    const replays = new Map<string, Target>();
    for (const line of answer.lines) {
      const replay = replays.get(line.tags.batch ?? '');
      if (replay) readReplayed(replay, line, this.self);
      else this.#read(line, replays);
    }
  }

  #read(line: IrcLine, replays: Map<string, Target>): void {
    const [first = '', second = '', third = ''] = line.params;
    switch (line.command) {
      case 'JOIN': {
        const target = this.self.isMe(line.nick) && this.#find(first);
        // what it was like when we left may be over
        if (target) Object.assign(target, { joined: true, entered: true, refused: undefined, modes: '' });
        if (target) target.snapshot?.members.splice(0); // what follows a JOIN is the whole list
        return;
      }
      case 'BATCH': {
        // a reference that has ended is given to other batches
        replays.delete(first.slice(1));
        const target = second === 'chathistory' && first.startsWith('+') && this.#find(third);
        if (target) replays.set(first.slice(1), target);
        return;
      }
      case '324': {
        const target = this.#find(second);
        if (target) target.modes = line.params.slice(2).join(' ');
        return;
      }
      case '332': {
        const snapshot = this.#find(second)?.snapshot;
        if (snapshot) snapshot.topic = textOf(line);
        return;
      }
      case '353': {
        const target = this.#find(third);
        if (target?.snapshot) target.snapshot.time = line.tags.time;
        this.#readNames(target, textOf(line));
        return;
      }
      case 'MODE':
        this.#readModes(this.#find(first), line.params.slice(1));
        return;
      default: {
        const target = isError(line.command) ? this.#find(second) : undefined;
        if (target && !target.joined) target.refused = { code: line.command, error: textOf(line) };
      }
    }
  }

  #readNames(target: Target | undefined, list: string): void {
    if (!target) return;
    for (const name of list.split(' ')) {
      if (name === '') continue;
      target.members += 1;
      const { nick, symbols, modes } = memberOf(name, this.names);
      target.snapshot?.members.push(`${symbols}${nick}`);
      if (this.self.isMe(nick)) target.status = statusOf(modes);
    }
  }

  /** Looks in a mode change for a prefix that is given to us. */
  #readModes(target: Target | undefined, words: readonly string[]): void {
    if (!target) return;
    for (const { isSet, flag, parameter = '' } of modeChanges(this.names, words)) {
      const isPrefix = this.names.prefixes.some(({ mode }) => mode === flag);
      if (isPrefix && isSet && this.self.isMe(parameter) && target.status !== 'op')
        target.status = statusOf([flag]);
    }
  }

  #find(channel: string): Target | undefined {
    return this.targets.get(casefold(channel));
  }
}

/** An entry of a member list: the nick, and its prefix, as symbols and as modes. */
export function memberOf(entry: string, { prefixes }: ModeNames) {
  const modes: string[] = [];
  const modeAt = (at: number) => prefixes.find(({ symbol }) => symbol === entry[at])?.mode;
  for (let mode = modeAt(0); mode; mode = modeAt(modes.length)) modes.push(mode);
  const nick = entry.slice(modes.length).split('!', 1)[0]!;
  return { nick, symbols: entry.slice(0, modes.length), modes };
}

function statusOf(modes: string[]): ChannelStatus {
  if (modes.some((mode) => 'qao'.includes(mode))) return 'op';
  return modes.length > 0 ? 'voice' : 'none';
}

function readReplayed(target: Target, line: IrcLine, self: Self): void {
  if (line.command !== 'PRIVMSG' && line.command !== 'NOTICE') return;
  const at = new Date(line.tags.time ?? 0);
  target.replayed += 1;
  target.oldest ??= at;
  target.snapshot?.lines.push(line);
  if (line.command !== 'PRIVMSG' || !self.wasMe(line.nick)) return;
  const { '+svc/event': tag = null, msgid = null } = line.tags;
  target.ours.push({ channel: target.name, tag, msgid, text: textOf(line), at });
}

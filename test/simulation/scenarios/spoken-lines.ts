import { casefold, isChannel } from '../../../streams/irc-grammar.js';
import {
  connections,
  inbox,
  type RequestedLine,
  type SpeechFact,
  speech,
} from '../../../streams/speech/index.js';
import type { SaidLine } from '../../../workers/speech/index.js';
import type { IrcNetwork, Shown } from '../irc/network.js';
import type { SimulatedLogServer } from '../log/server.js';
import type { Stage } from '../scenario.js';

/** A line that an agent asked for, and what it was told of it. */
export interface Asked {
  number: number;
  nick: string;
  to: string;
  answers: SaidLine[];
  refusals: string[];
}

/** A line as it is on the log. */
interface StoredLine extends RequestedLine {
  seq: number;
  ends: Exclude<SpeechFact, { type: 'line.requested' | 'connection.changed' | 'message.received' }>[];
}

/** For how long a session without labels may outlive their absence. */
const unlabelledMs = 60_000;
const mark = /\bline #(\d+) of /;

/** The text of a line, by which it is known again. */
export const markedText = (number: number, nick: string): string => `line #${number} of ${nick}`;

/** Whether somebody is an agent, or its session whose nick was taken away for an id as servers were joined. */
function isOf(from: string, nick: string): boolean {
  const [shown = '', user = ''] = from.split(/[!@]/);
  return shown === nick || (/^\d[A-Z0-9]{8}$/.test(shown) && user === nick.replaceAll('-', ''));
}

/** What agents asked for, what is recorded of it, and what the network has shown. */
export class SpokenLines {
  readonly #stage: Stage;
  readonly #server: SimulatedLogServer;
  readonly #network: IrcNetwork;
  /** By the numbers in their texts. */
  readonly #lines = new Map<number, StoredLine>();
  readonly #byId = new Map<string, StoredLine>();
  readonly #isOpen = new Map<string, boolean>();
  /** By stream. */
  readonly #readUpTo = new Map<string, number>();

  constructor(stage: Stage, server: SimulatedLogServer, network: IrcNetwork) {
    this.#stage = stage;
    this.#server = server;
    this.#network = network;
  }

  /** Lines without an end. */
  open(): string[] {
    this.#read();
    return [...this.#lines.values()].filter(({ ends }) => ends.length === 0).map(({ text }) => text);
  }

  /** How a line ended, by its number. */
  endOf(number: number): string | undefined {
    this.#read();
    return this.#lines.get(number)?.ends[0]?.type;
  }

  /** Whether an agent is recorded to be on the network. */
  isOpen(nick: string): boolean | undefined {
    this.#read();
    return this.#isOpen.get(casefold(nick));
  }

  /** `heard`: the texts that somebody was told alone. */
  judge(asked: readonly Asked[], heard: readonly string[]): void {
    this.#read();
    const shown = this.#shown();
    const alone = new Set<string>();
    for (const text of heard) {
      this.#stage.check('a private line is heard once', !alone.has(text), text);
      alone.add(text);
    }
    for (const line of asked) this.#judgeAnswers(line);
    for (const [number, line] of this.#lines) this.#judgeLine(number, line, shown.get(number) ?? []);
    this.#judgeOrder();
  }

  #judgeAnswers({ number, nick, answers, refusals }: Asked): void {
    const stage = this.#stage;
    const line = this.#lines.get(number);
    const [end] = line?.ends ?? [];
    const found = () => `#${number} of ${nick}: ${JSON.stringify({ answers, refusals, end })}`;
    stage.check('one key is one line', new Set(answers.map(({ id }) => id)).size <= 1, found);
    for (const answer of answers) {
      stage.count(`answers ${answer.is}`);
      stage.check('what is answered is on the log', line?.id === answer.id, found);
      if (answer.is === 'shown')
        stage.check('what is said to be shown is recorded', end?.type === 'line.shown', found);
      if (answer.is === 'expired')
        stage.check('what is said to be over is recorded', end?.type === 'line.expired', found);
    }
    for (const code of refusals) {
      stage.count(`refused ${code}`);
      const isSo = end?.type === 'line.refused' && end.data.code === code;
      stage.check('what is said to be refused is recorded', isSo, found);
    }
  }

  #judgeLine(number: number, line: StoredLine, shown: readonly Shown[]): void {
    const stage = this.#stage;
    const [end] = line.ends;
    const found = () =>
      `#${number} of ${line.nick} to ${line.to}: ${JSON.stringify(line.ends)}, shown ${shown.map(({ at }) => Math.round(this.#elapsed(at)))}`;
    stage.count(`lines ${end?.type ?? 'without an end'}`);
    stage.check('a line ends in one state', new Set(line.ends.map(({ type }) => type)).size === 1, found);
    for (const { from } of shown)
      stage.check('a line is said by its own agent', isOf(from, line.nick), found);
    if (!isChannel(line.to)) return;
    if (end?.type === 'line.shown')
      stage.check('what is recorded as shown was shown', shown.length > 0, found);
    if (end?.type === 'line.expired' && !end.data.in_doubt)
      stage.check('what is over without doubt was not shown', shown.length === 0, found);
    const [first] = shown;
    for (const again of shown.slice(1)) {
      const why = this.#excuse(first!, again);
      stage.count(`shown again: ${why ?? 'nobody knows why'}`);
      stage.check('a line is shown once', why !== undefined, found);
    }
  }

  /** Lines of one agent in one channel are shown as they were asked for. */
  #judgeOrder(): void {
    const last = new Map<string, StoredLine>();
    const seen = new Set<StoredLine>();
    for (const { channel, text } of this.#network.shown) {
      const line = this.#lines.get(Number(mark.exec(text)?.[1]));
      if (!line || seen.has(line)) continue;
      seen.add(line);
      const key = `${line.nick} ${channel}`;
      const before = last.get(key);
      const found = () => `${key}: ${line.text} after ${before?.text}`;
      this.#stage.check('lines are in the order of the log', !before || line.seq > before.seq, found);
      last.set(key, line);
    }
  }

  #shown(): Map<number, Shown[]> {
    const byNumber = new Map<number, Shown[]>();
    for (const line of this.#network.shown) {
      const number = Number(mark.exec(line.text)?.[1]);
      if (Number.isNaN(number)) continue;
      const asked = this.#lines.get(number);
      const found = () => `${line.channel}: ${line.text}`;
      this.#stage.check('what is shown is on the log', asked !== undefined, found);
      this.#stage.check('a line is shown where it belongs', asked?.to === line.channel, found);
      byNumber.set(number, [...(byNumber.get(number) ?? []), line]);
    }
    return byNumber;
  }

  /** Why a line may be shown a second time: the history is lost that would have told of the first. */
  #excuse(first: Shown, again: Shown): string | undefined {
    const { name } = this.#network.servers[0]!;
    const dies = new Set([`${name} crashes`, `${name} stops`]);
    if (this.#has(first.at, again.at, ({ who, what }) => who === 'irc' && dies.has(what)))
      return 'the server has died';
    const isWithdrawn = ({ who, what }: { who: string; what: string }) =>
      who === 'fault' && what === 'labels withdrawn';
    if (this.#has(first.at - unlabelledMs, again.at, isWithdrawn)) return 'without labels';
    return undefined;
  }

  #has(from: number, to: number, isIt: (happening: { who: string; what: string }) => boolean): boolean {
    const [begin, end] = [this.#elapsed(from), this.#elapsed(to)];
    return this.#stage.world.timeline.some(
      (happening) => happening.at >= begin && happening.at <= end && isIt(happening),
    );
  }

  #elapsed(at: number): number {
    return at - (this.#stage.world.now - this.#stage.world.elapsed);
  }

  #read(): void {
    for (const { name } of [speech, connections, inbox]) {
      const stream = this.#server.streams.get(name)?.stream;
      const from = (this.#readUpTo.get(name) ?? 0) + 1;
      for (let seq = from; stream && seq <= stream.lastSeq; seq++) {
        const message = stream.get(seq);
        if (message) this.#take(JSON.parse(new TextDecoder().decode(message.data)) as SpeechFact, seq);
      }
      this.#readUpTo.set(name, stream?.lastSeq ?? 0);
    }
  }

  #take(fact: SpeechFact, seq: number): void {
    switch (fact.type) {
      case 'line.requested': {
        const number = Number(mark.exec(fact.data.text)?.[1]);
        this.#stage.check('a line is on the log once', !this.#lines.has(number), fact.data.text);
        const line: StoredLine = { ...fact.data, seq, ends: [] };
        this.#lines.set(number, line);
        this.#byId.set(line.id, line);
        break;
      }
      case 'connection.changed':
        this.#isOpen.set(casefold(fact.data.nick), fact.data.open);
        break;
      case 'message.received':
        this.#stage.count('messages received');
        break;
      default:
        this.#byId.get(fact.data.id)?.ends.push(fact);
    }
  }
}

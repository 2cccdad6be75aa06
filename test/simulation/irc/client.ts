import type { Planned } from '../world.js';
import type { Server } from './server.js';
import type { User } from './state.js';

/** Where a server's answers go. */
export interface Sink {
  write(text: string): void;
  /** The server closes the connection after what it has written. */
  close(): void;
}

/** What a line has besides its text. A client sees what its capabilities allow. */
export interface Tags {
  at?: number | undefined;
  msgid?: string | undefined;
  account?: string | undefined;
  isBot?: boolean | undefined;
  isEcho?: boolean | undefined;
  /** Client tags: `+svc/event=1`. */
  client?: readonly string[] | undefined;
  /** The batch it belongs to, if that is not the answer's own. */
  batch?: string | undefined;
}

interface Answering {
  label: string;
  lines: { tags: Tags; body: string }[];
  batches: number;
}

const longestLine = 510;

/** A client as its server sees it: from the first byte to the last. */
export class Client {
  user: User | undefined;
  /** Also the id of the user that it becomes. */
  readonly id: string;
  readonly capabilities = new Set<string>();
  negotiating = false;
  nick: string | undefined;
  ident: string | undefined;
  real = '';
  password: string | undefined;
  closed = false;
  /** Nicks whose coming and going it is told. */
  readonly watched = new Set<string>();
  /** Milliseconds that each of its lines costs, when it is throttled. */
  costMs = 0;
  /** Answers to labels that will be lost, and whether the command is still done. */
  readonly swallow: { isDone: boolean }[] = [];
  readonly plans = new Set<Planned>();
  heardAt: number;
  #out = '';
  #rest: Buffer | undefined;
  #waiting: string[] = [];
  #debtUntil = 0;
  #answering: Answering | undefined;
  #isInOthersBatch = false;

  constructor(
    readonly server: Server,
    readonly sink: Sink,
    public host: string,
  ) {
    this.heardAt = server.now;
    this.id = server.newId();
  }

  has(capability: string): boolean {
    return this.capabilities.has(capability);
  }

  /** What numerics call it. */
  get name(): string {
    return this.user?.nick ?? this.nick ?? '*';
  }

  receive(bytes: Buffer): void {
    if (this.closed) return;
    const data = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    const end = data.lastIndexOf(10);
    this.#rest = end === data.length - 1 ? undefined : data.subarray(end + 1);
    if (end === -1) return;
    this.lines(data.subarray(0, end).toString().split('\n'));
  }

  /** Lines that have arrived; a throttled client's wait for their turn. */
  lines(lines: readonly string[]): void {
    const { server } = this;
    this.heardAt = server.now;
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (text === '') continue;
      if (this.#waiting.length > 0 || this.#debtUntil > server.now) this.#waiting.push(text);
      else this.#take(text);
    }
    if (this.#waiting.length > 0) this.#takeLater();
    server.flush();
  }

  #take(line: string): void {
    if (this.closed) return;
    this.#debtUntil = Math.max(this.#debtUntil, this.server.now) + this.costMs;
    this.server.execute(this, line);
  }

  #takeLater(): void {
    if (this.plans.size > 0 && this.#turn && !this.#turn.cancelled) return;
    this.#turn = this.plan(Math.max(1, this.#debtUntil - this.server.now), () => {
      this.#turn = undefined;
      const line = this.#waiting.shift();
      if (line !== undefined) this.#take(line);
      while (this.#waiting.length > 0 && this.#debtUntil <= this.server.now)
        this.#take(this.#waiting.shift()!);
      if (this.#waiting.length > 0) this.#takeLater();
      this.server.flush();
    });
  }
  #turn: Planned | undefined;

  /** Plans something that is cancelled when the client leaves. */
  plan(ms: number, action: () => void): Planned {
    const planned = this.server.world.after(ms, () => {
      this.plans.delete(planned);
      action();
    });
    this.plans.add(planned);
    return planned;
  }

  /** A line for this client, after its prefix if it has one. The last parameter may have spaces. */
  send(prefix: string, tags: Tags, command: string, ...parameters: string[]): void {
    this.write(tags, lineOf(prefix, command, parameters));
  }

  numeric(code: string, ...parameters: string[]): void {
    this.send(this.server.name, {}, code, this.name, ...parameters);
  }

  /** A line that is made already. */
  write(tags: Tags, body: string): void {
    if (this.closed) return;
    if (this.#answering) this.#answering.lines.push({ tags, body });
    else if (this.server.leaks(this, body)) {
      if (!this.#isInOthersBatch) this.#put({}, `:${this.server.name} BATCH +1 :labeled-response`);
      this.#isInOthersBatch = true;
      this.#put(tags, body, 'batch=1');
    } else this.#put(tags, body);
    this.server.wrote(this);
  }

  /** Ends the batch of somebody else's answer, as far as this client was shown it. */
  endOthersBatch(): void {
    if (!this.#isInOthersBatch) return;
    this.#isInOthersBatch = false;
    this.#put({}, `:${this.server.name} BATCH :-1`);
  }

  /** Whether the current answer has a batch by now. */
  get isBatched(): boolean {
    return this.#answering !== undefined && this.#answering.lines.length > 1;
  }

  /** Whether the newest line of the current answer is this one. */
  isAnsweredWith(body: string): boolean {
    return this.#answering?.lines.at(-1)?.body === body;
  }

  /** A line that is not part of an answer, though the same command caused it. */
  writeApart(tags: Tags, body: string): void {
    this.#put(tags, body);
    this.server.wrote(this);
  }

  /** The reference of a new batch. */
  newBatch(): string {
    if (this.#answering) return String(++this.#answering.batches);
    return this.server.hasOpenBatch ? '2' : '1';
  }

  /** What is written from now on is the answer to a label. */
  beginAnswer(label: string): void {
    this.#answering = { label, lines: [], batches: 1 };
  }

  endAnswer(): void {
    const { label, lines } = this.#answering!;
    this.#answering = undefined;
    if (this.swallow.shift()) return;
    const { name } = this.server;
    const [first] = lines;
    if (!first) this.#put({}, `:${name} ACK`, `label=${label}`);
    else if (lines.length === 1) this.#put(first.tags, first.body, `label=${label}`);
    else {
      this.#put({}, `:${name} BATCH +1 :labeled-response`, `label=${label}`);
      for (const { tags, body } of lines) this.#put(tags, body, tags.batch ? '' : 'batch=1');
      this.#put({}, `:${name} BATCH :-1`);
    }
    this.server.wrote(this);
  }

  #put(tags: Tags, body: string, answer = ''): void {
    this.#out += `${this.#tagsOf(tags, answer)}${fit(body)}\r\n`;
  }

  #tagsOf(tags: Tags, answer: string): string {
    if (this.capabilities.size === 0) return '';
    const shown: string[] = [];
    const takesTags = this.has('message-tags');
    if (this.has('server-time')) shown.push(`time=${isoOf(tags.at ?? this.server.now)}`);
    if (tags.msgid && takesTags) shown.push(`msgid=${tags.msgid}`);
    if (answer !== '') shown.push(answer);
    if (tags.batch) shown.push(`batch=${tags.batch}`);
    if (tags.account && this.has('account-tag')) shown.push(`account=${tags.account}`);
    if (takesTags) {
      if (tags.isEcho) shown.push('inspircd.org/echo');
      if (tags.isBot) shown.push('inspircd.org/bot', 'bot');
      if (tags.client) shown.push(...tags.client);
    }
    return shown.length === 0 ? '' : `@${shown.join(';')} `;
  }

  /** Gives what was written to the connection. */
  flush(): void {
    const out = this.#out;
    if (out === '') return;
    this.#out = '';
    this.sink.write(out);
  }

  /** The connection is over: nothing of it is read or written any more. */
  end(): void {
    if (this.closed) return;
    // what ends a client is the last thing that it would have been told
    this.#answering = undefined;
    this.flush();
    this.closed = true;
    for (const planned of this.plans) planned.cancelled = true;
    this.sink.close();
  }

  /** Whether an answer to a label is being made. */
  get isAnswering(): boolean {
    return this.#answering !== undefined;
  }
}

/** The text of a line as servers send it, with a colon before its last parameter. */
export function lineOf(prefix: string, command: string, parameters: readonly string[]): string {
  const start = prefix === '' ? command : `:${prefix} ${command}`;
  if (parameters.length === 0) return start;
  const middle = parameters.length === 1 ? '' : ` ${parameters.slice(0, -1).join(' ')}`;
  return `${start}${middle} :${parameters.at(-1)}`;
}

/** Servers cut what is too long for a line, wherever that is. */
function fit(body: string): string {
  if (body.length * 3 <= longestLine || Buffer.byteLength(body) <= longestLine) return body;
  return Buffer.from(body).subarray(0, longestLine).toString();
}

let lastAt = -1;
let lastText = '';

/** As `Date.toISOString`, which is called for the same moment many times. */
function isoOf(at: number): string {
  const whole = Math.floor(at);
  if (whole !== lastAt) {
    lastAt = whole;
    lastText = new Date(whole).toISOString();
  }
  return lastText;
}

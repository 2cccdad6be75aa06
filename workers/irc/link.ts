import { Client } from 'irc-framework';
import { clock } from '../../streams/core/clock.js';
import type { CommandOutcome, Exchange } from './exchange.js';
import { LabelExchange } from './labels.js';
import { commandLine, commandOf, type IrcLine, parseLine, textOf } from './line.js';
import { PingFenceExchange } from './ping-fence.js';
import { Self } from './self.js';
import { type ServerAddress, Wire } from './transport.js';
import { Watchdog } from './watchdog.js';

/** A client as a gateway introduces it: the gateway's password, and how others see the client. */
export interface WebIrc {
  password: string;
  hostname: string;
  address: string;
}

/** An account of the nick service. */
export interface IrcAccount {
  name: string;
  password: string;
}

/** What a link needs to know. */
export interface LinkOptions {
  address: ServerAddress;
  nick: string;
  /** The nicks (casefolded) that we have had, by the time of the last one. */
  names: Set<string>;
  realname: string;
  password: string | undefined;
  webirc: WebIrc | undefined;
  account: IrcAccount | undefined;
  confirmTimeoutMs: number;
  bytesInFlight: number;
  /** Whether anybody wants the lines that answer nothing; only then are they all parsed. */
  wantsLines(): boolean;
  line(line: IrcLine): void;
}

/** The beginning of a reason that says that the nick service refused the account. */
export const accountRefused = 'the nick service refused the account';
/** The gateway's name for itself on IRC servers. */
export const gatewayName = 'relay';
const registrationMs = 10_000;
// Servers without labels punish fast clients with seconds of silence (ngIRCd: ten after a wrong OPER).
const fencePatience = 3;
const confirming = ['message-tags', 'batch', 'labeled-response', 'echo-message'];
/** Tells by which account somebody speaks: without it nobody counts as identified. */
const accountTag = 'account-tag';
/** What irc-framework must see after registration; its event machinery is too slow for the rest. */
const forLibrary = /^(?:CAP|AUTHENTICATE|PING|005|90\d)$/;
const aboutUs = new Set(['JOIN', 'PART', 'KICK', 'NICK', 'MODE', '381', '396']);
const nickTaken = new Set(['432', '433', '436', '437']);
/** Refusals before registration; later some of these numerics have another meaning. */
const shutOut = new Set(['463', '464', '465', '466']);

/** Resolves when the signal is aborted. */
export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** One connection to a server, from connecting to its end. It does not reconnect. */
export class Link {
  readonly client: Client;
  /** The name that we give ourselves with a connection. */
  readonly ident: string;
  self: Self;
  /** Set once registered. */
  exchange: Exchange | undefined;
  /** Whether the server has explicitly refused us. */
  rejected = false;
  /** Whether it has said that we may not come at all: a ban, a wrong password, an account that is not ours. */
  refused = false;
  readonly #options: LinkOptions;
  readonly #lost = new AbortController();
  /** Get every line that answers nothing. */
  readonly #overhearing = new Set<(line: IrcLine) => void>();
  #wire!: Wire;
  #farewell: string | undefined;
  #spares = 0;
  #hasAskedAgain = false;
  #tagsAccounts = false;
  #watchdog: Watchdog | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.self = new Self(options.nick, 10, 64, options.names);
    this.ident = options.nick.replace(/[^A-Za-z0-9]/g, '').slice(0, 10) || 'bot';
    const link = this;
    this.client = new Client({
      nick: options.nick,
      username: this.ident,
      gecos: options.realname,
      password: options.password,
      ...(options.webirc ? { webirc: { ...options.webirc, username: gatewayName } } : {}),
      account: options.account ? { account: options.account.name, password: options.account.password } : {},
      version: null,
      enable_echomessage: true,
      auto_reconnect: false,
      ping_interval: 0,
      ping_timeout: 0,
      transport: class extends Wire {
        constructor() {
          super(options.address, {
            take: (line) => link.#take(line),
            closed: (reason) => link.#closed(reason),
          });
          link.#wire = this;
        }
      },
    });
    this.client.requestCap(['labeled-response']);
    this.client.on('sasl failed', ({ reason }: { reason: string }) => {
      this.rejected = true;
      this.refused = true;
      this.destroy(`${accountRefused} (${reason})`);
    });
    this.client.on('cap del', () => {
      if (this.exchange?.kind === 'labels' && !this.#confirms()) this.destroy('the server took labels away');
      if (this.#tagsAccounts && !this.client.network.cap.isEnabled(accountTag))
        this.destroy('the server took account tags away');
    });
  }

  /** Aborted when the connection is over, with an Error that says why. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Connects and registers, under a spare nick if ours is taken. Throws if the connection ends before. */
  async register(): Promise<Exchange> {
    const timer = clock.setTimeout(
      () => this.destroy(`not registered within ${registrationMs} ms`),
      registrationMs,
    );
    try {
      await new Promise<void>((resolve, reject) => {
        this.client.once('motd', () => resolve());
        this.lost.addEventListener('abort', () => reject(this.lost.reason), { once: true });
        this.client.connect();
      });
    } finally {
      clock.clearTimeout(timer);
    }
    this.lost.throwIfAborted();
    const { options } = this.client.network;
    const { USERLEN, HOSTLEN } = options;
    const { names } = this.#options;
    this.self = new Self(this.self.nick, Number(USERLEN ?? 10), Number(HOSTLEN ?? 64), names);
    const labels = this.#confirms();
    this.#tagsAccounts = this.client.network.cap.isEnabled(accountTag);
    const { bytesInFlight } = this.#options;
    const confirmTimeoutMs = this.#options.confirmTimeoutMs * (labels ? 1 : fencePatience);
    const exchangeOptions = {
      wire: this.#wire,
      seen: (line: IrcLine) => this.#see(line),
      confirmTimeoutMs,
      bytesInFlight,
    };
    this.exchange = labels ? new LabelExchange(exchangeOptions) : new PingFenceExchange(exchangeOptions);
    this.#wire.answers = this.exchange;
    this.#watchdog = new Watchdog({
      exchange: this.exchange,
      confirmTimeoutMs,
      heardAt: () => this.#wire.heardAt,
      dead: (reason) => this.destroy(reason),
    });
    return this.exchange;
  }

  /** One command and its answer. Throws a TypeError if the parts do not make one line. */
  async command(...parts: string[]): Promise<CommandOutcome> {
    const line = commandLine(parts);
    return this.exchange?.command(line) ?? { is: 'lost', written: false };
  }

  /**
   * All lines that answer nothing and come during some work, when what others do to us is part of it. The work ends
   * when the server has told what it did until then.
   */
  async overhear(work: () => Promise<unknown>): Promise<IrcLine[]> {
    const lines: IrcLine[] = [];
    const hear = (line: IrcLine) => void lines.push(line);
    this.#overhearing.add(hear);
    try {
      await work();
      await this.command('PING', 'overheard');
    } finally {
      this.#overhearing.delete(hear);
    }
    return lines;
  }

  /** Sends QUIT and waits at most `ms` for the server to close; lines on their way are still answered. */
  async quit(reason: string, ms: number): Promise<void> {
    if (this.lost.aborted) return;
    this.#farewell = reason;
    if (!this.exchange) return this.destroy(reason);
    this.#wire.writeLine(commandLine(['QUIT', reason]));
    const timer = clock.setTimeout(() => this.destroy(reason), ms);
    await whenAborted(this.lost);
    clock.clearTimeout(timer);
  }

  /** Ends the connection at once. */
  destroy(reason: string): void {
    this.#wire?.destroy(reason);
    if (!this.#wire) this.#closed(reason);
  }

  #confirms(): boolean {
    return confirming.every((name) => this.client.network.cap.isEnabled(name));
  }

  #take(line: string): boolean {
    const command = commandOf(line);
    if (command === 'CAP') {
      const [, what] = parseLine(line).params;
      if (what === 'NEW') this.#offered(textOf(parseLine(line)).split(' '));
      const isRefused = what === 'NAK' && !this.exchange && !this.#hasAskedAgain;
      if (isRefused) this.#askAgain();
      if (what === 'NEW' || isRefused) return true;
    }
    if (command === 'ERROR' || (!this.exchange && shutOut.has(command))) {
      this.#shutOut(command, textOf(parseLine(line)));
    }
    if (!this.exchange) {
      if (nickTaken.has(command)) this.#takeSpareNick(textOf(parseLine(line)));
      // the library takes no note of a nick that begins with a digit, as servers give it to one of two that have the same
      if (command === '001') this.self.nick = parseLine(line).params[0] ?? this.self.nick;
      if (command === 'NICK') this.self.see(parseLine(line));
      return false;
    }
    if (forLibrary.test(command)) return false;
    if (aboutUs.has(command) || this.#overhearing.size > 0 || this.#options.wantsLines()) {
      const parsed = parseLine(line);
      this.#see(parsed);
      for (const hear of this.#overhearing) hear(parsed);
      this.#options.line(parsed);
    }
    return true;
  }

  /**
   * Capabilities that are offered later. With one that confirms lines, or tells accounts, we reconnect. The
   * library would request nothing of the rest. After our CAP END, its request keeps InspIRCd from ever
   * registering us (services that link offer `sasl`, at any moment).
   */
  #offered(names: readonly string[]): void {
    const { cap } = this.client.network;
    const lacks = (wanted: readonly string[]) =>
      names.some((given) => wanted.some((name) => name === given.split('=', 1)[0] && !cap.isEnabled(name)));
    if (lacks(confirming)) this.destroy('the server offers labels');
    else if (lacks([accountTag])) this.destroy('the server offers account tags');
  }

  /**
   * Asks once more what there is. One capability that was withdrawn since the server told it has refused all that we requested,
   * also those that lines are confirmed and known again by.
   */
  #askAgain(): void {
    this.#hasAskedAgain = true;
    this.client.network.cap.requested = [];
    this.client.raw('CAP', 'LS', '302');
  }

  #see(line: IrcLine): void {
    const { nick } = this.self;
    this.self.see(line);
    // A session that does not have its own nick cannot be fenced off by the next one.
    if (this.self.nick !== nick && this.self.nick !== this.#options.nick) {
      this.rejected = true;
      this.destroy(`our nick was changed to ${this.self.nick}`);
    }
  }

  #shutOut(command: string, text: string): void {
    if (command !== 'ERROR') this.refused = true;
    // the ERROR after a numeric says more about the reason
    if (this.#farewell === undefined || this.rejected) {
      this.rejected = true;
      this.#farewell = text;
    }
    // Nothing follows an ERROR but the end.
    if (command === 'ERROR') this.destroy(text);
  }

  #takeSpareNick(refusal: string): void {
    const { nick } = this.#options;
    if (++this.#spares > 5) {
      this.destroy(`no nick can be taken: ${refusal}`);
      return;
    }
    // The one length every server takes is 9.
    const stem = nick.slice(0, Math.max(nick.length, 9) - 4);
    this.client.raw('NICK', `${stem}_${clock.random().toString(36).slice(2, 5).padEnd(3, '0')}`);
  }

  #closed(reason: string): void {
    if (this.lost.aborted) return;
    this.#watchdog?.stop();
    this.exchange?.close();
    this.#lost.abort(new Error(this.#farewell ?? reason));
    this.client.removeAllListeners();
  }
}

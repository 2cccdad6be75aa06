import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { pause } from '../../streams/core/index.js';
import { Backoff } from './backoff.js';
import { claimNick, endRenamed, type Free } from './claim.js';
import type { Hands } from './hands.js';
import type { IrcLine } from './line.js';
import { type IrcAccount, Link, type WebIrc, whenAborted } from './link.js';
import { Session } from './session.js';
import { type Dial, type ServerAddress, serverAddress } from './transport.js';

/** The settings of one bot's connection; times in milliseconds. */
export interface IrcConnectionOptions {
  /** irc://host:port or ircs://host:port */
  url: string;
  nick: string;
  realname?: string;
  /** The server's connect password. */
  password?: string;
  oper?: { name: string; password: string };
  /**
   * The client that we introduce to the server, when we speak for somebody else. The server must trust our
   * gateway.
   */
  webirc?: WebIrc;
  /** Credentials for the nick service, used from the beginning. */
  account?: IrcAccount;
  log: Logger;
  /** How long a line may go without an answer; 5,000 by default. */
  confirmTimeoutMs?: number;
  /**
   * How many bytes may be unanswered at a time; 8,192 by default, less than the smallest read buffer of
   * servers.
   */
  bytesInFlight?: number;
  /** How long to stay silent while somebody else has our nick; 150,000 by default. */
  nickWaitMs?: number;
  /** Ends an older session of ours that has our nick. Operators do that by themselves. */
  free?: Free;
  /** The operator who helps us to our nick and into channels, where we are not one. */
  hands?: Hands;
  /** A certificate authority to trust besides the well-known ones, PEM. */
  ca?: string;
  /** Makes the connections; TCP by default. */
  dial?: Dial;
  /** Whether a session may begin now; always by default. */
  mayBegin?: () => boolean;
}

/**
 * The state of a connection. `connected` and `since` count from registration; `oper` is what the server said.
 */
export interface IrcStatus {
  connected: boolean;
  oper: boolean;
  nick: string;
  since: Date | null;
  confirmation: 'labels' | 'fence' | null;
  lastError: string | null;
  /** Whether the last connection ended because the server ended it in so many words. */
  rejected: boolean;
  /** Whether it did so because we may not come at all: a ban, a wrong password, an account that is not ours. */
  refused: boolean;
}

interface ConnectionEvents {
  /** A session has begun; nothing has been joined in it. */
  session: [session: Session];
  /** The session is over. */
  lost: [reason: string];
  /** A line from the server that does not answer ours. */
  line: [line: IrcLine];
}

const quitMs = 1_000;
const minimumGapMs = 1_000;

/**
 * One bot's place on the network. It connects, registers, becomes operator, and fences off an older session
 * of the same nick. Then it announces a session. It does so again, for ever, whenever that session is lost.
 */
export class IrcConnection extends EventEmitter<ConnectionEvents> {
  readonly #options: IrcConnectionOptions;
  readonly #address: ServerAddress;
  readonly #backoff = new Backoff();
  readonly #names = new Set<string>();
  readonly #stop = new AbortController();
  /** Aborted by a stop too. */
  readonly #last = new AbortController();
  #running: Promise<void> | undefined;
  #link: Link | undefined;
  #session: Session | undefined;
  #sessions = 0;
  #status: IrcStatus;

  /** Throws a TypeError if the URL is not an IRC server's. */
  constructor(options: IrcConnectionOptions) {
    super();
    this.#options = options;
    this.#address = { ...serverAddress(options.url, options.ca), dial: options.dial };
    this.#status = { ...offline, nick: options.nick, lastError: null, rejected: false, refused: false };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Begins no more sessions. One that lasts goes on until it is lost, or until the stop. */
  beginNoMore(): void {
    this.#last.abort();
    if (!this.#session) this.#link?.destroy('No more sessions');
  }

  /** Sends QUIT and ends for good; takes about a second at most. */
  async stop(reason = 'Stopping'): Promise<void> {
    this.#stop.abort();
    this.#last.abort();
    await this.#link?.quit(reason, quitMs);
    await this.#running;
  }

  status(): IrcStatus {
    const { connected, nick } = this.#status;
    const self = connected ? this.#link?.self : undefined;
    return { ...this.#status, nick: self?.nick ?? nick, oper: self?.oper ?? false };
  }

  session(): Session | undefined {
    return this.#session;
  }

  async #run(): Promise<void> {
    while (!this.#last.signal.aborted) {
      if (!this.#mayBegin()) {
        await pause(minimumGapMs, this.#last.signal);
        continue;
      }
      const startedAt = clock.elapsed();
      const link = this.#newLink();
      this.#link = link;
      const announcedAt = await this.#live(link);
      this.#link = undefined;
      const now = clock.elapsed();
      const livedMs = announcedAt === undefined ? 0 : now - announcedAt;
      const wait = this.#backoff.next({ livedMs, rejected: link.rejected }, clock.random());
      const nextMs = Math.max(wait, startedAt + minimumGapMs - now);
      this.#record(link, { openMs: Math.round((announcedAt ?? now) - startedAt), livedMs, nextMs });
      await pause(nextMs, this.#last.signal);
    }
  }

  /** One connection from beginning to end. Resolves with the moment its session was announced, if it was. */
  async #live(link: Link): Promise<number | undefined> {
    let announcedAt: number | undefined;
    try {
      const startedAt = clock.elapsed();
      const exchange = await link.register();
      Object.assign(this.#status, {
        connected: true,
        since: new Date(clock.now()),
        confirmation: exchange.kind,
      });
      const quiet = await this.#prepare(link);
      announcedAt = clock.elapsed();
      this.#session = new Session(++this.#sessions, link, exchange, { quiet, hands: this.#options.hands });
      this.#status.lastError = null;
      const { log } = this.#options;
      const { oper } = link.self;
      const openMs = Math.round(announcedAt - startedAt);
      log.info({ nick: link.self.nick, oper, confirmation: exchange.kind, openMs }, 'irc session');
      this.#tell('session', this.#session);
      await whenAborted(link.lost);
    } catch (error) {
      link.destroy(error instanceof Error ? error.message : String(error));
    }
    const reason = reasonOf(link);
    const { rejected, refused } = link;
    this.#status = { ...offline, nick: this.#options.nick, lastError: reason, rejected, refused };
    this.#session = undefined;
    if (announcedAt !== undefined) this.#tell('lost', reason);
    return announcedAt;
  }

  /**
   * Gets operator state, our nick, no replay, and the mark of a bot. Resolves with whether the replay is held
   * back.
   */
  async #prepare(link: Link): Promise<boolean> {
    const { oper, nick, log, nickWaitMs = 150_000, free, hands } = this.#options;
    const help = { free, hands };
    if (oper) {
      const answer = await link.command('OPER', oper.name, oper.password);
      const code = answer.is === 'answered' ? answer.error?.code : answer.is;
      if (!link.self.oper) log.error({ nick, code }, 'irc operator state refused');
    }
    const claimed = await claimNick(link, nick, nickWaitMs, help);
    if (claimed === 'freed') log.warn({ nick }, 'irc nick taken back from another session');
    const ended = await endRenamed(link, this.#options.realname ?? nick);
    if (ended > 0) log.warn({ nick, ended }, 'irc sessions ended that had lost our nick');
    if (!claimed) {
      log.warn({ nick, spare: link.self.nick }, 'irc nick cannot be taken');
      void claimNick(link, nick, Number.POSITIVE_INFINITY, help).catch(() => undefined);
    }
    // servers that have a mark for programs say which
    const { BOT: mark, CASEMAPPING } = link.client.network.options;
    if (CASEMAPPING !== 'rfc1459')
      log.warn(
        { nick, casemapping: CASEMAPPING },
        'irc network tells nicks apart that are one here: some cannot identify',
      );
    const answer = await link.command('MODE', link.self.nick, `+N${typeof mark === 'string' ? mark : ''}`);
    link.lost.throwIfAborted();
    if (!this.#mayBegin()) throw new Error('Another process may have the nick');
    return answer.is === 'answered' && answer.error === null;
  }

  #mayBegin(): boolean {
    return this.#options.mayBegin?.() ?? true;
  }

  #newLink(): Link {
    const {
      nick,
      realname = nick,
      password,
      confirmTimeoutMs = 5_000,
      bytesInFlight = 8_192,
      webirc,
      account,
    } = this.#options;
    return new Link({
      address: this.#address,
      nick,
      names: this.#names,
      realname,
      password,
      webirc,
      account,
      confirmTimeoutMs,
      bytesInFlight,
      wantsLines: () => this.listenerCount('line') > 0,
      line: (line) => this.#tell('line', line),
    });
  }

  #record(link: Link, times: { openMs: number; livedMs: number; nextMs: number }): void {
    const { log, nick } = this.#options;
    const stopped = this.#stop.signal.aborted;
    const unit = {
      nick,
      reason: reasonOf(link),
      rejected: link.rejected,
      openMs: times.openMs,
      livedMs: Math.round(times.livedMs),
      nextMs: stopped ? null : Math.round(times.nextMs),
      confirmation: link.exchange?.kind,
      lines: link.exchange?.tally,
    };
    if (stopped) log.info(unit, 'irc connection');
    else log.warn(unit, 'irc connection');
  }

  /** A listener's error is the listener's problem: it must not end the connection. */
  #tell<Name extends keyof ConnectionEvents>(name: Name, ...values: ConnectionEvents[Name]): void {
    try {
      (this.emit as (name: Name, ...values: ConnectionEvents[Name]) => boolean).call(this, name, ...values);
    } catch (error) {
      this.#options.log.error({ err: error, nick: this.#options.nick, event: name }, 'irc listener failed');
    }
  }
}

const offline = { connected: false, oper: false, since: null, confirmation: null } as const;

const reasonOf = ({ lost }: Link): string => (lost.reason instanceof Error ? lost.reason.message : 'lost');

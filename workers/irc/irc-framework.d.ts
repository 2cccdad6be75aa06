/** The part of irc-framework 4.14 that workers/irc uses; the package ships no types of its own. */
declare module 'irc-framework' {
  import type { EventEmitter } from 'node:events';

  export interface IrcMessage {
    tags: Record<string, string>;
    prefix: string;
    nick: string;
    ident: string;
    hostname: string;
    command: string;
    params: string[];
  }

  /** What irc-framework calls on the object it makes from `options.transport`. */
  export interface Transport extends EventEmitter {
    connect(): void;
    writeLine(line: string, written?: () => void): void;
    close(force?: boolean): void;
    disposeSocket(): void;
    setEncoding(encoding: string): boolean;
    isConnected(): boolean;
  }

  export interface ClientOptions {
    nick: string;
    username: string;
    gecos: string;
    password?: string | undefined;
    /** An empty object keeps SASL off; without it a server password is also tried as a SASL password. */
    account?: { account?: string; password?: string };
    /** Sent first: the client that we introduce to the server. */
    webirc?: { password: string; username: string; hostname: string; address: string };
    enable_echomessage?: boolean;
    auto_reconnect?: boolean;
    /** Seconds; 0 turns the library's own pings off. */
    ping_interval?: number;
    ping_timeout?: number;
    /** Answer to CTCP VERSION; null gives none. */
    version?: string | null;
    transport: new () => Transport;
  }

  export interface NetworkInfo {
    server: string;
    ircd: string;
    /** ISUPPORT: PREFIX is split into pairs, CHANMODES and CHANTYPES into lists, the rest is text or `true`. */
    options: {
      CASEMAPPING: string;
      PREFIX: { symbol: string; mode: string }[];
      CHANMODES?: string[];
      CHANTYPES?: string[];
      [name: string]: unknown;
    };
    cap: { enabled: string[]; requested: string[]; isEnabled(name: string): boolean };
    supportsTag(name: string): boolean;
  }

  export class Client extends EventEmitter {
    constructor(options: ClientOptions);
    readonly network: NetworkInfo;
    readonly user: { nick: string };
    requestCap(names: string[]): void;
    connect(): void;
    raw(...parts: string[]): void;
  }

  export function ircLineParser(line: string): IrcMessage;
}

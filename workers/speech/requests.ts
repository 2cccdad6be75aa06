import type { Log } from '../../streams/core/index.js';
import { type RequestedService, request } from '../core/rpc.js';

/** Who speaks: a nick, its person (see `personOf`; an operator names none), and who asked, for the record. */
export interface Speaker {
  nick: string;
  person?: string | undefined;
  by: string;
}

/** A line to say. The same `key` again means the same line. */
export interface SayRequest extends Speaker {
  to: string;
  text: string;
  action: boolean;
  /** The line that it answers: as it was named, and its msgid if it has one. */
  reply_to?: { line: string; msgid: string | null };
  key: string;
}

/** What became of a line so far. `pending`: it is not said yet; ask again under the same key. */
export type SaidLine =
  /** `unanswered`: the network did not carry which line it answers. */
  | { id: string; is: 'shown'; msgid: string | null; unanswered?: true | undefined }
  | { id: string; is: 'pending' }
  | { id: string; is: 'expired'; in_doubt: boolean };

/** A wanted connection. `password` of the nick's account at the nick service is kept in memory alone. */
export interface ConnectRequest extends Speaker {
  password?: string;
}

/** That an agent says of itself that it is away; `since` in ISO 8601. */
export interface Away {
  message: string;
  since: string;
}

/** The state of an agent on the network; `since` in ISO 8601. */
export interface AgentConnection {
  connected: boolean;
  nick: string;
  since: string | null;
  identified: boolean;
  channels: string[];
  away: Away | null;
}

/** What the process that holds the agents' connections does for others. Plain JSON in and out. */
export interface Gateway {
  /** Throws the refusal of a line that the network did not take. */
  say(line: SayRequest): Promise<SaidLine>;
  connect(wanted: ConnectRequest): Promise<AgentConnection>;
  disconnect(speaker: Speaker): Promise<AgentConnection>;
  /** Whoever looks is there: it is not idle. */
  look(speaker: Speaker): Promise<AgentConnection>;
  join(wanted: Speaker & { channel: string }): Promise<AgentConnection>;
  part(wanted: Speaker & { channel: string }): Promise<AgentConnection>;
  /** Says that the agent is away; without a message, that it is back. */
  away(wanted: Speaker & { message: string | null }): Promise<AgentConnection>;
}

/** What can be asked of it. */
export const gatewayOperations = ['say', 'connect', 'disconnect', 'look', 'join', 'part', 'away'] as const;

/** Name under which the holder of the agents' connections answers. */
export const gatewayService = 'gateway';

/**
 * How long an answer is waited for, in milliseconds: longer than a new connection and then a line may take.
 */
const answerMs = 15_000;

/**
 * The gateway, in whichever process it is. Errors are its own; without a gateway, `Unavailable` with the code
 * `irc_unavailable`.
 */
export function createGateway(log: Log): Gateway {
  const service: RequestedService = {
    log,
    name: gatewayService,
    timeoutMs: answerMs,
    absent: 'irc_unavailable',
  };
  const asks = (operation: keyof Gateway) => (wanted: unknown) => request(service, operation, wanted);
  return Object.fromEntries(gatewayOperations.map((name) => [name, asks(name)])) as unknown as Gateway;
}

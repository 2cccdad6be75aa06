import type { Server } from './server.js';
import type { Message, User } from './state.js';

/** One change of a channel's modes. */
export interface ModeChange {
  sign: '+' | '-';
  letter: string;
  /** A nick for `o` and `v`. */
  value?: string | undefined;
  /** Who gets or loses the status of `o` or `v`, by id. */
  user?: string;
}

/** Who does something: a user by id, or a server by name. */
export type Source = { user: string } | { server: string };

/** Something that has come to pass on the network; each server takes note of it when it hears of it. */
export type Fact =
  | { is: 'user'; user: Omit<User, 'client' | 'channels'>; burst?: boolean }
  | { is: 'quit'; user: string; reason: string }
  | { is: 'killed'; user: string; by: Source; reason: string }
  | { is: 'nick'; user: string; nick: string; at: number }
  | { is: 'join'; user: string; channel: string; since: number; status: string; made: string }
  | { is: 'part'; user: string; channel: string; reason: string | undefined }
  | { is: 'kick'; by: Source; user: string; channel: string; reason: string }
  | { is: 'mode'; by: Source; channel: string; changes: ModeChange[]; at: number }
  | { is: 'topic'; by: Source; channel: string; text: string; at: number }
  | { is: 'message'; user: string; channel: string | undefined; to: string | undefined; message: Message }
  | { is: 'away'; user: string; text: string | undefined }
  | { is: 'account'; user: string; account: string | undefined }
  | { is: 'host'; user: string; host: string }
  | { is: 'user mode'; user: string; letter: string; isSet: boolean }
  | { is: 'invite'; by: string; user: string; channel: string }
  /** A channel as a server that is being linked has it. */
  | {
      is: 'channel';
      from: string;
      name: string;
      since: number;
      modes: [string, string | undefined][];
      bans: { mask: string; by: string; at: number }[];
      topic: { text: string; by: string; at: number } | undefined;
      members: { user: string; status: string }[];
    }
  /** An operator of another server has a user of this one do something. */
  | {
      is: 'forced';
      user: string;
      does: 'join' | 'part' | 'nick';
      argument: string;
      reason?: string | undefined;
    }
  | { is: 'burst over'; from: string };

/** What each kind of fact does to a server that hears of it. */
export type Effects = { [Is in Fact['is']]: (server: Server, fact: Extract<Fact, { is: Is }>) => void };

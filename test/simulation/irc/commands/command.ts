import type { Client } from '../client.js';
import type { Server } from '../server.js';
import type { User } from '../state.js';

/** A command of a client, and what it is carried out with. */
export interface Run {
  server: Server;
  client: Client;
  /** The user that the client is, once it is registered. */
  user: User;
  parameters: string[];
  /** As they were sent: `+svc/event=1`. */
  tags: string[];
  command: string;
}

/** Carries a command out, and answers. */
export type Command = (run: Run) => void;

/** Refuses a command that lacks a parameter; whether it did. */
export function lacks({ client, parameters, command }: Run, count: number): boolean {
  const isLacking = parameters.length < count;
  if (isLacking) client.numeric('461', command, 'Not enough parameters.');
  return isLacking;
}

/** Refuses who is no operator; whether it did. */
export function isNoOperator({ client, user }: Run): boolean {
  const isOper = user.modes.has('o');
  if (!isOper) client.numeric('481', 'Permission Denied - You do not have the required operator privileges');
  return !isOper;
}

/** A notice of the server to who gave the command. */
export function explain({ server, client }: Run, text: string): void {
  client.send(server.name, {}, 'NOTICE', client.name, text);
}

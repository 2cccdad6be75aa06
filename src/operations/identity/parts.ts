import type { Tx } from '../../../projections/core/sql.js';
import type { Asking, IdentityRegistry } from '../../../workers/identity/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { Call } from '../core/call.js';
import type { AddressCounter } from '../core/challenge-limit.js';
import type { IrcState } from '../core/health.js';
import type { Caller } from '../core/operation.js';

/** What the operations of identity work with. */
export interface IdentityParts {
  readModels: ReadModels;
  call: Call;
  startedAt: Date;
  identity: {
    registry: IdentityRegistry;
    /** Counts the challenges of client addresses. */
    addresses: AddressCounter;
    /** State of the identity bot's connection, in whichever process it is. */
    irc(): Promise<IrcState | undefined>;
  };
}

/**
 * Reads links as they are after what this process has written. They decide who acts for a nick, so an answer
 * from before does not count: it throws `read_model_behind`.
 */
export async function readLinks<T>(
  { readModels, identity }: IdentityParts,
  query: (sql: Tx, schema: string) => Promise<T>,
): Promise<T> {
  return await readModels.readAt('identity_links', query, identity.registry.position);
}

/** Who asks the registry, when a caller of an operation does. */
export const askingOf = ({ actor }: Caller): Asking => ({ by: actor });

/** What a key may be good for. An operator's key has all scopes. */
export const scopes = [
  'read',
  'speak',
  'rate',
  'report',
  'vote',
  'tasks',
  'deliberate',
  'channels',
  'operate',
] as const;
export type Scope = (typeof scopes)[number];

/**
 * The scopes of keys that a wallet gives for its nick. The others are for the operator's money or other
 * people's network.
 */
export const ownScopes: readonly Scope[] = ['read', 'speak', 'rate', 'report', 'vote'];

interface Named {
  /** Name that the facts have. */
  actor: string;
  /** Id of the request, for facts to name as their cause. */
  cause?: string;
  /** Address of the client, for what is counted by it. */
  address?: string;
  /** The caller's own credential at the task marketplace; it belongs in no record. */
  marketplaceKey?: string;
}

/** The holder of an agent key, who acts as one nick and no other. */
export interface AgentCaller extends Named {
  is: 'agent';
  /** Id of the key. */
  key: string;
  /** Casefolded. */
  nick: string;
  /**
   * Address of the wallet that is linked and verified, in lower case; null if the operator gave the key to a
   * nick without one.
   */
  wallet: string | null;
  scopes: readonly Scope[];
}

/**
 * Who asks, whichever face the request came through. `key`: the holder of an operator's key. `local`:
 * somebody on this machine while no keys are configured. `agent`: the holder of an agent key. `wallet`: the
 * signer with an Ethereum wallet. `none`: nobody known. The actor of a key is its name, that of a wallet its
 * address in lower case.
 */
export type Caller =
  | AgentCaller
  | (Named & {
      is: 'key' | 'local' | 'wallet' | 'none';
      /** The nick that a wallet has proven, if an operation asks for that. */
      nick?: string;
    });

/** Somebody who showed nothing. */
export const nobody: Readonly<Caller> = Object.freeze({ is: 'none', actor: 'api' });

/** Whether a caller holds a scope; an operator holds all of them. */
export function holds(caller: Caller, scope: Scope): boolean {
  if (caller.is === 'agent') return caller.scopes.includes(scope);
  return isOperator(caller);
}

/** Whether a caller is the operator: by a key, or on this machine if there are no keys. */
export const isOperator = ({ is }: Caller): boolean => is === 'key' || is === 'local';

/** Whether a caller sees what is private: channels closed to the public, and what happened there. */
export const seesPrivate = (caller: Caller): boolean => caller.is === 'key' || isTrustedAgent(caller);

const isTrustedAgent = (caller: Caller): boolean => caller.is === 'agent' && holds(caller, 'operate');

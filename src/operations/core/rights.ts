import { Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { type Caller, isOperator, ownScopes, type Scope } from './caller.js';

/** What callers need, if they need something. */
export interface Needed {
  /** What a key must be good for. */
  scope: Scope;
  /**
   * Who needs no key: everybody, who is shown less then, or anybody on this machine. A wrong key is still
   * refused.
   */
  without?: 'everybody' | 'local';
  /**
   * Member of the input with the nick that the caller acts as. An agent key acts as its own nick, and may
   * leave it out.
   */
  as?: string;
  /**
   * Which wallet may sign in place of a key. `linked`: the wallet that is linked to the nick in the member
   * `as`. `proven`: that wallet, if it and the nick have proven each other. `own`: any wallet that has proven
   * a nick, which the caller has then.
   */
  wallet?: 'linked' | 'proven' | 'own';
}

/**
 * Who may call an operation. `open`: everybody, and credentials are ignored. `signed event`: the marketplace,
 * by its signature over the body. `payment`: everybody, and the payment decides. Anything else needs a key
 * with a scope.
 */
export type Access = 'open' | 'signed event' | 'payment' | Needed;

/** Access for keys with a scope, and for those that `more` adds. */
export const scope = (scope: Scope, more: Omit<Needed, 'scope'> = {}): Needed => ({ scope, ...more });

/** Access for everybody; a key shows more. */
export const moreWithKey: Needed = scope('read', { without: 'everybody' });

/** The scope that a key needs if all callers show one, as with tools: reading needs `read`. */
export function scopeOf(access: Access): Scope {
  return typeof access === 'string' ? 'read' : access.scope;
}

/** Whether a call needs a key or a signature. */
export const needsCredential = (access: Access): access is Needed =>
  typeof access === 'object' && access.without === undefined;

/**
 * The one place where rights are decided, whichever face a call came through. Throws 401 without a key.
 * Throws 403 `scope_missing` if an agent key lacks the scope, and 403 `not_your_nick` if it acts as another
 * nick. The face with the signature has checked that the wallet is the right one.
 */
export function requireRight(access: Access, caller: Caller, input?: Record<string, unknown>): void {
  if (typeof access === 'string' || isOperator(caller)) return;
  if (caller.is === 'agent') {
    if (access.without !== 'everybody') requireScope(caller, access.scope);
    requireOwnNick(access, caller.nick, input);
    return;
  }
  if (caller.is === 'wallet' && caller.nick !== undefined) requireOwnNick(access, caller.nick, input);
  if (access.without === 'everybody' || (caller.is === 'wallet' && access.wallet)) return;
  throw new Refusal('api_key_required');
}

function requireOwnNick({ as }: Needed, nick: string, input?: Record<string, unknown>): void {
  const named = as === undefined ? undefined : input?.[as];
  if (typeof named === 'string' && casefold(named) !== nick)
    throw new Refusal('not_your_nick', `You act here as ${nick}, and not as ${named}`);
}

/** Throws 403 `scope_missing` if an agent key lacks a scope. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.is === 'agent' && !caller.scopes.includes(scope))
    throw new Refusal('scope_missing', `This key is not good for ${scope}`, { hint: howToGet(scope) });
}

/** Where the holder of an agent key gets one with another scope. */
function howToGet(scope: Scope): string {
  if (!ownScopes.includes(scope)) return `An operator gives keys for ${scope}, with relay keys new`;
  return `Sign POST /auth/keys with the wallet of your nick and {"scopes": ["read", "${scope}"]}, or ask the operator: see /auth.md`;
}

/** Member of the input with the nick that the caller acts as, if there is one. */
export const ownNickMember = (access: Access): string | undefined =>
  typeof access === 'string' ? undefined : access.as;

/** The given input. If the nick that the caller acts as was left out, the nick of the agent key is added. */
export function withOwnNick(given: unknown, caller: Caller, member: string | undefined): unknown {
  if (member === undefined || caller.is !== 'agent') return given;
  const isLeftOut = (given as Record<string, unknown> | undefined)?.[member] == null;
  return isLeftOut ? { ...(given as object), [member]: caller.nick } : given;
}

import { Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { type Caller, isOperator, type Scope } from './caller.js';

/** What is asked of callers, where something is. */
export interface Needed {
  /** What a key must be good for. */
  scope: Scope;
  /** Who needs no key: everybody, who is shown less then, or anybody on this machine. A wrong key is refused all the same. */
  without?: 'everybody' | 'local';
  /** Member of the input that names whom the caller acts as. An agent key acts as its own nick, and may leave it out. */
  as?: string;
  /**
   * Whose wallet may sign in place of a key: `linked`, the wallet that is linked with the nick in the member `as`;
   * `proven`, that one where both have proven each other; `own`, any wallet that has proven a nick, which the caller has then.
   */
  wallet?: 'linked' | 'proven' | 'own';
}

/**
 * Who may call an operation. `open`: everybody, credentials are not looked at; `signed event`: the marketplace, by its
 * signature over the body; `payment`: everybody, and the payment decides. Anything else needs a key with a scope.
 */
export type Access = 'open' | 'signed event' | 'payment' | Needed;

/** Access for keys with a scope, and for whom else it says. */
export const scope = (scope: Scope, more: Omit<Needed, 'scope'> = {}): Needed => ({ scope, ...more });

/** Access for everybody, who is shown more with a key. */
export const moreWithKey: Needed = scope('read', { without: 'everybody' });

/** What a key has to be good for where all callers show one, as tools do: reading needs `read`. */
export function scopeOf(access: Access): Scope {
  return typeof access === 'string' ? 'read' : access.scope;
}

/** Whether nobody may call without a key or a signature. */
export const needsCredential = (access: Access): access is Needed =>
  typeof access === 'object' && access.without === undefined;

/**
 * The one place where rights are decided, whichever face a call came through. Throws 401 without a key, 403
 * `scope_missing` where an agent key is not good for it, and 403 `not_your_nick` where it is to act as another nick.
 * That a wallet is the right one was seen by the face that has its signature.
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

/** Throws 403 `scope_missing` where an agent key is not good for a scope. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.is === 'agent' && !caller.scopes.includes(scope))
    throw new Refusal('scope_missing', `This key is not good for ${scope}`);
}

/** Member of the input that names whom the caller acts as, where there is one. */
export const ownNickMember = (access: Access): string | undefined =>
  typeof access === 'string' ? undefined : access.as;

/** What was given for an input, with the nick of an agent key where it says whom the caller acts as and was left out. */
export function withOwnNick(given: unknown, caller: Caller, member: string | undefined): unknown {
  if (member === undefined || caller.is !== 'agent') return given;
  const isLeftOut = (given as Record<string, unknown> | undefined)?.[member] == null;
  return isLeftOut ? { ...(given as object), [member]: caller.nick } : given;
}

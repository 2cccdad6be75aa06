/**
 * Who asks, whichever face the request came through. `key`: the holder of an API key; `local`: somebody on this
 * machine while no keys are configured; `wallet`: whoever signed with an Ethereum wallet; `none`: nobody known.
 */
export interface Caller {
  is: 'key' | 'local' | 'wallet' | 'none';
  /** Name that stands in the facts: the key's name, the wallet's address in lower case, or what stands for nobody. */
  actor: string;
  /** Id of the request, for facts to name as their cause. */
  cause?: string;
}

/** Somebody who showed nothing. */
export const nobody: Caller = { is: 'none', actor: 'api' };

/** Whether a caller sees what is private: channels closed to the public, and what happened there. */
export const seesPrivate = ({ is }: Caller): boolean => is === 'key';

/** Whether a caller may change things: with a key, or on this machine where there are none. */
export const mayChange = ({ is }: Caller): boolean => is === 'key' || is === 'local';

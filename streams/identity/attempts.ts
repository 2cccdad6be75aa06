/** When a nick asked for challenges and sent wrong signatures over IRC, in milliseconds since 1970, oldest first. */
export interface Attempts {
  challenge: number[];
  signature: number[];
}

/** What `VERIFY` over IRC may be tried, of each kind, in a time of so many milliseconds. */
export const attemptLimit = { count: 3, inMs: 10 * 60_000 };

/** Takes note of an attempt; only as many are kept as the limit needs. */
export function attemptAt(
  attempts: Map<string, Attempts>,
  nick: string,
  what: keyof Attempts,
  at: number,
): void {
  const of = attempts.get(nick) ?? { challenge: [], signature: [] };
  attempts.set(nick, of);
  of[what].push(at);
  if (of[what].length > attemptLimit.count) of[what].shift();
}

/** Milliseconds until a nick may try again; 0 when it may now. */
export function untilNextAttempt(
  attempts: ReadonlyMap<string, Attempts>,
  nick: string,
  what: keyof Attempts,
  now: number,
): number {
  const [oldest = 0, ...others] = attempts.get(nick)?.[what] ?? [];
  if (others.length + 1 < attemptLimit.count) return 0;
  return Math.max(0, oldest + attemptLimit.inMs - now);
}

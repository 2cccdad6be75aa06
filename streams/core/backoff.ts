/** Pauses between tries, from the first to the longest, in milliseconds. */
export interface Pauses {
  first: number;
  longest: number;
}

/** The pause behind so many failed tries: doubled with each one, and a little by chance, so that many do not come together. */
export function backoff(tries: number, { first, longest }: Pauses): number {
  return Math.min(longest, first * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
}

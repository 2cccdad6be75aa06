/** How long a challenge may be answered, in milliseconds. */
export const challengeMs = 30 * 60_000;
/** How long an expired challenge is remembered as expired, in milliseconds. */
export const expiredMs = 30 * 60_000;

/** How many challenges a link is given in a time of so many milliseconds; whoever asks for more gets the last one again. */
const challengeLimit = { count: 5, inMs: 10 * 60_000 };

/** How many wrong signatures, and how many requests for a challenge, one person may send over IRC in so many milliseconds. */
export const attemptLimit = { count: 3, inMs: 10 * 60_000 };

/** More than can be issued while one is valid. */
const mostLive = challengeLimit.count * Math.ceil(challengeMs / challengeLimit.inMs) + 1;

/** A text that a wallet may sign until it expires. Times are in milliseconds since 1970. */
export interface Challenge {
  text: string;
  expiresAt: number;
}

/** The challenges of one link, oldest first. They die with it. */
export interface LinkChallenges {
  /** Id of the link. */
  link: number;
  challenges: readonly Challenge[];
}

/**
 * The challenges of a link with one more, unless it was given as many as it may lately: then they are as before,
 * and the last one is given again. Earlier ones stay good: anybody may ask for a new one, and that must not void the
 * owner's. `hex` are six random hexadecimal digits.
 */
export function withChallenge(
  known: LinkChallenges | undefined,
  { link, nick, hex }: { link: number; nick: string; hex: string },
  now: Date,
): { record: LinkChallenges; challenge: Challenge; isNew: boolean } {
  const at = now.getTime();
  const before = challengesOf(known, link);
  const last = before.at(-1);
  const lately = before.filter(({ expiresAt }) => expiresAt - challengeMs + challengeLimit.inMs > at);
  if (last && lately.length >= challengeLimit.count)
    return { record: { link, challenges: before }, challenge: last, isNew: false };
  const challenge = { text: challengeText(nick, now, hex), expiresAt: at + challengeMs };
  const live = before.filter(({ expiresAt }) => expiresAt > at);
  return {
    record: { link, challenges: [...live, challenge].slice(-mostLive) },
    challenge,
    isNew: true,
  };
}

/** The challenges of a link among those that are known for its nick, oldest first. */
export function challengesOf(known: LinkChallenges | undefined, link: number): readonly Challenge[] {
  return known?.link === link ? known.challenges : [];
}

/** The text that a wallet signs: `hex` are six random hexadecimal digits. */
export function challengeText(nick: string, issuedAt: Date, hex: string): string {
  return `svc:verify:${nick}:${Math.floor(issuedAt.getTime() / 1000)}:${hex}`;
}

/** Whether `text` is a wallet's address: `0x` and 40 hexadecimal digits, in any case. */
export function isWalletAddress(text: string): boolean {
  return /^0x[a-fA-F0-9]{40}$/.test(text);
}

/** Whether `text` has the form of a signature: `0x` and 65 bytes in hexadecimal digits. */
export function isSignature(text: string): boolean {
  return /^0x[0-9a-fA-F]{130}$/.test(text);
}

/** The key under which wallets are compared. */
export function walletKey(address: string): string {
  return address.toLowerCase();
}

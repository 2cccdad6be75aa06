import { casefold } from '../irc-grammar.js';

/** How long a challenge may be answered, in milliseconds. */
export const challengeMs = 30 * 60_000;
/** How long an expired challenge is remembered as expired, in milliseconds. */
export const expiredMs = 30 * 60_000;
/** A challenge that is not older than this is given again unchanged, in milliseconds. */
const renewedMs = 60_000;
/** The most challenges of one social handle, how many may come from one place, and how many of the first are safe. */
const most = { ofHandle: 40, fromOnePlace: 5, first: 20 };

/** A text that the holder of a social handle was asked to post. Times are in milliseconds since 1970. */
export interface Challenge {
  /** Casefolded. */
  nickname: string;
  text: string;
  expiresAt: number;
  /** Identifies the place it was asked from. */
  from: string;
}

/** A request: a nickname, by somebody at a place; `code` is 8 hexadecimal digits that nobody can guess. */
export interface Asked {
  nickname: string;
  code: string;
  from: string;
}

/**
 * The challenges of one handle, with the requested one. A repeated request keeps its text: what was posted
 * meanwhile stays valid, even if somebody else asked again. When there are too many, the oldest of the place
 * with the most requests goes. If no place has more than one, it is the oldest but for the 20 that came first. So many
 * requests of one place do not push out the request of another. Many places do not push out who was first, and who comes
 * late has as long as it takes 20 more of them to come.
 */
export function withChallenge(
  known: readonly Challenge[],
  { nickname, code, from }: Asked,
  now: number,
): { challenges: Challenge[]; challenge: Challenge; isNew: boolean } {
  const key = casefold(nickname);
  const kept = known.filter(({ expiresAt }) => expiresAt + expiredMs > now);
  const before = kept.find((one) => one.nickname === key && one.expiresAt > now);
  const expiresAt = now + challengeMs;
  if (before && expiresAt - before.expiresAt < renewedMs)
    return { challenges: kept, challenge: before, isNew: false };
  const challenge = before
    ? { ...before, expiresAt }
    : { nickname: key, text: `svc:verify:${nickname}:${code}`, expiresAt, from };
  // who asks again keeps the place in the row
  if (before) {
    const challenges = kept.map((one) => (one === before ? challenge : one));
    return { challenges, challenge, isNew: true };
  }
  const others = kept.filter((one) => one.nickname !== key);
  return { challenges: [...withRoom(others, challenge.from), challenge], challenge, isNew: true };
}

/** Without the oldest, if there is no room for one more. */
function withRoom(challenges: Challenge[], from: string): Challenge[] {
  const left = [...challenges];
  const leave = (place: string) =>
    left.splice(
      left.findIndex((one) => one.from === place),
      1,
    );
  while (left.filter((one) => one.from === from).length >= most.fromOnePlace) leave(from);
  while (left.length >= most.ofHandle) {
    const [place, count] = busiest([...left.map((one) => one.from), from]);
    if (count > 1) leave(place);
    else left.splice(most.first, 1);
  }
  return left;
}

/** The place that is named most, and how often; of several, the one whose first is the newest. */
function busiest(places: readonly string[]): [place: string, count: number] {
  const counts = new Map<string, number>();
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1);
  return [...counts].reduce((most, one) => (one[1] >= most[1] ? one : most));
}

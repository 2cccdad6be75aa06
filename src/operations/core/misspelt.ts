import { Refusal } from '../../../streams/core/index.js';
import type { RefusalCode } from '../../../streams/refusals.js';
import { nearestWord } from '../../words/spelling.js';

/** Shorter names are too much alike to tell a typo from another name. */
const shortest = 4;
/** Unknown members that are looked at, and the longest name of one. */
const most = 50;
const longest = 40;

/**
 * Refuses members with an unknown name that is nearly the name of a known one which is not given: what they say would be
 * lost. Other unknown members are let pass, so that a newer caller can be served by an older version.
 */
export function refuseMisspelt(
  given: unknown,
  known: readonly string[],
  {
    among = known,
    code = 'validation_failed',
  }: { among?: readonly string[]; code?: RefusalCode | undefined } = {},
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given))
    return;
  const unknown = Object.keys(given).filter((name) => !known.includes(name) && name.length <= longest);
  const missing = among.filter((name) => !Object.hasOwn(given, name));
  if (unknown.length === 0 || missing.length === 0) return;
  const details = unknown.slice(0, most).flatMap((path) => {
    const meant = meantBy(path, missing);
    return meant ? [{ path, message: `${path} is not known: is ${meant} meant?` }] : [];
  });
  if (details.length === 0) return;
  throw new Refusal(code, details.map(({ message }) => message).join('; '), { details });
}

/** Names of parameters that are repeated in answers: others could end a header, or fill it. */
const repeatable = /^[\w.~-]{1,40}$/;
const mostRepeated = 10;

/** The members that are not known and were let pass, of those that can be repeated; at most some. */
export function letPassIn(given: unknown, known: readonly string[]): string[] {
  const names = Object.keys((given ?? {}) as object);
  return names.filter((name) => !known.includes(name) && repeatable.test(name)).slice(0, mostRepeated);
}

/**
 * What a query says that nobody asked for, as a header tells it: `limt;meant="limit", colour`. `undefined` if there is
 * nothing of that kind.
 */
export function ignoredIn(query: unknown, known: readonly string[]): string | undefined {
  const ignored = letPassIn(query, known);
  if (ignored.length === 0) return undefined;
  const missing = known.filter((name) => !Object.hasOwn(query as object, name));
  const told = ignored.map((name) => {
    const meant = meantBy(name, missing);
    return meant === undefined ? name : `${name};meant="${meant}"`;
  });
  return told.join(', ');
}

function meantBy(name: string, missing: readonly string[]): string | undefined {
  const same = missing.find((one) => plain(one) === plain(name));
  return (
    same ??
    nearestWord(
      name,
      missing.filter((one) => one.length >= shortest),
    )
  );
}

/** `walletAddress` and `wallet-address` are the `wallet_address` of other conventions. */
const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

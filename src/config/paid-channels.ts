import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isManagedChannel, withHash } from '../../streams/irc-grammar.js';
import { currency, defaultNetwork, networkOf, smallestUnits } from '../../workers/payments/networks.js';
import type { PaidChannel } from '../../workers/payments/paid-channel.js';

/** A year: longer sessions are a typing error. */
const longestSeconds = 366 * 24 * 3_600;
const mostSlots = 10_000;

const Entry = z.strictObject({
  name: z.string().transform(withHash).refine(isManagedChannel, 'must be # and 3 to 60 of a-z 0-9 _ -'),
  price: z
    .union([z.string(), z.number().transform(String)])
    .refine(
      (text) => /^\d{1,9}(\.\d{1,6})?$/.test(text) && smallestUnits(text) !== '0',
      'must be an amount like "0.10", with six decimals at most',
    ),
  currency: z.literal(currency, `must be ${currency}`).default(currency),
  networks: z
    .array(z.string().refine((id) => networkOf(id) !== undefined, 'must be a known network like eip155:8453'))
    .min(1)
    .default([defaultNetwork]),
  durationSeconds: z.int().min(1).max(longestSeconds),
  maxSlots: z.int().min(1).max(mostSlots),
  description: z.string().max(300),
});

/** Reads the operator's file of paid channels. Throws an error that says what is wrong, and in which entry. */
export function readPaidChannels(path: string): PaidChannel[] {
  const entries = entriesOf(path);
  const seen = new Set<string>();
  return entries.map((entry, index) => {
    const result = Entry.safeParse(entry);
    const named = (entry as { name?: unknown } | null)?.name;
    const place = typeof named === 'string' ? `${index + 1} (${named})` : String(index + 1);
    if (!result.success) {
      const problems = result.error.issues.map(({ path, message }) =>
        path.length > 0 ? `${path.join('.')} ${message}` : message,
      );
      throw new Error(`${path}: entry ${place}: ${problems.join('; ')}`);
    }
    const { data } = result;
    if (seen.has(data.name)) throw new Error(`${path}: entry ${place}: there are two of that name`);
    seen.add(data.name);
    return { ...data, amount: smallestUnits(data.price) };
  });
}

function entriesOf(path: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${path} ${code ? `cannot be read (${code})` : `is not JSON (${message})`}`);
  }
  if (!Array.isArray(parsed)) throw new Error(`${path} must be a list of paid channels`);
  return parsed;
}

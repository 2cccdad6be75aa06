import type { IncomingMessage } from 'node:http';

/** How many lines of a request name its host. Two readers of one request may each believe another of several. */
export function hostLines({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let count = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n]!;
    // the length tells nearly all names apart, at no cost
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/**
 * How long a wait may take before it counts as one that never ends, in milliseconds. It says nothing about the product:
 * whatever must be quick is measured in simulated time.
 */
export const hangMs = 90_000;

/**
 * Asks until the answer is right; fails after `timeoutMs` with what was waited for. A server that takes long to answer is asked
 * less often, so that asking does not hold up what is waited for.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = hangMs,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    const asked = Date.now();
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      last = error;
    }
    const pauseMs = Math.min(1_000, Math.max(20, 3 * (Date.now() - asked)));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`waited ${timeoutMs} ms for: ${what}${last ? ` (${(last as Error).message})` : ''}`);
}

import pRetry from 'p-retry';

/** Asks until the answer is there and right. Rejects with what was waited for when it is not within `ms`. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  ms = 10_000,
): Promise<T> {
  const once = async () => {
    const answer = await ask();
    if (!answer) throw new Error(`waited ${ms} ms for ${what}`);
    return answer;
  };
  const often = { retries: Number.POSITIVE_INFINITY, minTimeout: 20, factor: 1, maxRetryTime: ms };
  return await pRetry(once, often);
}

/** Milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

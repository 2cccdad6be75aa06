/**
 * What several generators give, as it comes. It ends with the first that ends. A source that is quiet for long should give
 * something now and then: each wait for it holds a little memory until it does.
 */
export async function* merged<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const next = async (source: AsyncGenerator<T>) => ({ source, result: await source.next() });
  const waiting = new Map(sources.map((source) => [source, next(source)]));
  try {
    for (;;) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done) return;
      waiting.set(source, next(source));
      yield result.value;
    }
  } finally {
    for (const [source, step] of waiting) {
      step.catch(() => {});
      // one that waits for something comes to its end when that comes, or its signal aborts
      source.return(undefined).catch(() => {});
    }
  }
}

/**
 * What several generators give, as it comes. It ends with the first that ends. A source that is quiet for long should give
 * something now and then: each wait for it holds a little memory until it does.
 */
export async function* merged<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const next = (source: AsyncGenerator<T>) => {
    const step = source.next().then((result) => ({ source, result }));
    // it may fail while nobody asks for more: whoever asks next is told
    step.catch(() => {});
    return step;
  };
  const waiting = new Map(sources.map((source) => [source, next(source)]));
  try {
    for (;;) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done) return;
      waiting.set(source, next(source));
      yield result.value;
    }
  } finally {
    for (const source of waiting.keys()) {
      // one that waits for something comes to its end when that comes, or its signal aborts
      source.return(undefined).catch(() => {});
    }
  }
}

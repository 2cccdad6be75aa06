import type { Log } from '../../streams/core/index.js';

/** Members of payment facts that earlier versions did not write. */
const newer = ['holder', 'terms', 'proof', 'valid_before'];

interface Decides {
  decide(...asked: unknown[]): unknown;
}

function without<T>(fact: T): T {
  if (fact === undefined) return fact;
  const { data, ...rest } = fact as { data: object };
  const known = Object.entries(data).filter(([name]) => !newer.includes(name));
  return { ...rest, data: Object.fromEntries(known) } as T;
}

/** A log on which payments are written as a process of an earlier version writes them: without what was added since. */
export function logOfEarlierVersion(log: Log): Log {
  const deciders = new Map<unknown, unknown>();
  const earlier = (decider: Decides): unknown => {
    const known = deciders.get(decider) ?? {
      ...decider,
      decide: (...asked: unknown[]) => without(decider.decide(...asked)),
    };
    deciders.set(decider, known);
    return known;
  };
  const changed: Record<string, (...given: never[]) => unknown> = {
    appendOnce: (stream, subject, fact, origin) => log.appendOnce(stream, subject, without(fact), origin),
    handle: (stream, decider, command, origin) =>
      log.handle(stream, earlier(decider) as never, command, origin),
  };
  return new Proxy(log, {
    get: (target, name) => {
      const found: unknown = changed[String(name)] ?? Reflect.get(target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

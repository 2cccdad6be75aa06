/** Whether a subject belongs to a pattern with `*` and `>` as NATS knows them. */
export function matches(pattern: string, subject: string): boolean {
  if (pattern === '>' || pattern === subject) return true;
  if (!hasWildcard(pattern)) return false;
  const wanted = pattern.split('.');
  const tokens = subject.split('.');
  for (let place = 0; place < wanted.length; place++) {
    if (wanted[place] === '>') return tokens.length > place;
    if (place >= tokens.length || (wanted[place] !== '*' && wanted[place] !== tokens[place])) return false;
  }
  return wanted.length === tokens.length;
}

/** Whether a pattern is more than the one subject that it spells. */
export function hasWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('>');
}

/** Whether two patterns can match the same subject. */
export function overlap(one: string, other: string): boolean {
  const [left, right] = [one.split('.'), other.split('.')];
  for (let place = 0; place < Math.max(left.length, right.length); place++) {
    const [a, b] = [left[place], right[place]];
    if (a === undefined || b === undefined) return false;
    if (a === '>' || b === '>') return true;
    if (a !== b && a !== '*' && b !== '*') return false;
  }
  return true;
}

/** Who subscribed to what; finds the subscribers of a subject without a look at most of the others. */
export class Interest<S extends { subject: string }> {
  readonly #exact = new Map<string, Set<S>>();
  /** Those of `prefix.*`, as every inbox is, by the prefix. */
  readonly #inboxes = new Map<string, Set<S>>();
  readonly #others = new Set<S>();

  add(subscription: S): void {
    const [map, key] = this.#place(subscription.subject);
    if (!map) this.#others.add(subscription);
    else if (map.has(key)) map.get(key)!.add(subscription);
    else map.set(key, new Set([subscription]));
  }

  remove(subscription: S): void {
    const [map, key] = this.#place(subscription.subject);
    if (!map) this.#others.delete(subscription);
    else {
      const found = map.get(key);
      found?.delete(subscription);
      if (found?.size === 0) map.delete(key);
    }
  }

  of(subject: string): S[] {
    const found = [...(this.#exact.get(subject) ?? [])];
    const prefix = subject.slice(0, subject.lastIndexOf('.'));
    for (const one of this.#inboxes.get(prefix) ?? []) found.push(one);
    for (const one of this.#others) if (matches(one.subject, subject)) found.push(one);
    return found;
  }

  #place(subject: string): [Map<string, Set<S>> | undefined, string] {
    if (!hasWildcard(subject)) return [this.#exact, subject];
    const prefix = subject.slice(0, -2);
    return subject.endsWith('.*') && !hasWildcard(prefix) ? [this.#inboxes, prefix] : [undefined, ''];
  }
}

/** An answer that many get: who wants it in another order, or with more in it, makes one of their own. */
export type Shared<T> = T extends (...args: never) => unknown
  ? T
  : T extends object
    ? { readonly [Member in keyof T]: Shared<T[Member]> }
    : T;

/** Texts of answers that are given again as they are. Of other ones none is kept: that would cost more than it saves. */
const kept = new WeakMap<object, { json?: string; indented?: string }>();

/** Notes that a value is given again and not changed any more: its texts are written once. Returns it. */
export function keep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !kept.has(value)) kept.set(value, {});
  return value;
}

/** A value as JSON. */
export function jsonOf(value: object): string {
  const texts = kept.get(value);
  if (!texts) return JSON.stringify(value);
  texts.json ??= JSON.stringify(value);
  return texts.json;
}

/** A value as JSON that people can read. */
export function indentedJsonOf(value: unknown): string {
  const texts = typeof value === 'object' && value !== null ? kept.get(value) : undefined;
  if (!texts) return JSON.stringify(value, null, 2);
  texts.indented ??= JSON.stringify(value, null, 2);
  return texts.indented;
}

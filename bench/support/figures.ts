/** The value below which a share `p` (0 to 1) of the values lie; NaN of none. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN;
}

/** The middle value; of an even number the lower one of the two. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** A rate as the table shows it, `12,345 lines/s`; the unit is a plural or empty. */
export function perSecond(count: number, ms: number, unit = ''): string {
  const rate = (count / ms) * 1_000;
  return `${whole(rate)}${unit && ` ${unit}`}/s`;
}

/** Milliseconds as the table shows them. */
export function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(ms < 1 ? 2 : 1) : whole(ms)} ms`;
}

/** A number without decimals, in groups of three digits; small ones keep two decimals. */
export function whole(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(2) : Math.round(value).toLocaleString('en');
}

/** Prices of a model in US dollars per million tokens. */
export interface Prices {
  in: number;
  out: number;
}

/** Tokens that went in and came out. */
export interface Tokens {
  in: number;
  out: number;
}

/** What tokens cost, in billionths of a US dollar, rounded up. */
export function costOf(prices: Prices, tokens: Tokens): number {
  // a dollar per million tokens is a thousand billionths a token; a price has six decimals at most
  const thousandths = Math.round(prices.in * 1e6) * tokens.in + Math.round(prices.out * 1e6) * tokens.out;
  return Math.ceil(thousandths / 1_000);
}

/** US dollars as billionths. */
export function nanoUsd(usd: number): number {
  return Math.round(usd * 1e9);
}

/** Billionths as US dollars. */
export function usd(nanoUsd: number): number {
  return nanoUsd / 1e9;
}

/** How long a challenge may be answered, in milliseconds. */
export const challengeMs = 30 * 60_000;

/** How many challenges a link is given in a time of so many milliseconds; whoever asks for more gets the last one again. */
export const challengeLimit = { count: 5, inMs: 10 * 60_000 };

/** The text that a wallet signs: `hex` are six random hexadecimal digits. */
export function challengeText(nick: string, issuedAt: Date, hex: string): string {
  return `svc:verify:${nick}:${Math.floor(issuedAt.getTime() / 1000)}:${hex}`;
}

/** Whether `text` is a wallet's address: `0x` and 40 hexadecimal digits, in any case. */
export function isWalletAddress(text: string): boolean {
  return /^0x[a-fA-F0-9]{40}$/.test(text);
}

/** Whether `text` has the form of a signature: `0x` and 65 bytes in hexadecimal digits. */
export function isSignature(text: string): boolean {
  return /^0x[0-9a-fA-F]{130}$/.test(text);
}

/** The key under which wallets are compared. */
export function walletKey(address: string): string {
  return address.toLowerCase();
}

import { recoverMessageAddress } from 'viem';

/** Address of the wallet that signed a text by EIP-191; `undefined` when the signature is nobody's. */
export async function signerOf(text: string, signature: string): Promise<string | undefined> {
  try {
    return await recoverMessageAddress({ message: text, signature: signature as `0x${string}` });
  } catch {
    return undefined; // not on the curve, or no recovery bit: the library says so in many ways
  }
}

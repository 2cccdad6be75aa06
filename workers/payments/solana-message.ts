/**
 * The one canonical form of a Solana message: its counts in as few bytes as they need, and nothing after its end. Decoders
 * take other forms too, and send the canonical one to the chain, with the same signatures. What is no whole message stays as
 * it is: no decoder takes it. Source: https://solana.com/docs/core/transactions, legacy messages and those of version 0.
 */
export function canonicalMessage(message: Buffer): Buffer {
  const copy = new Copy(message);
  try {
    const hasVersion = (message[0]! & 0x80) !== 0;
    copy.bytes(hasVersion ? 1 : 0);
    copy.bytes(3); // how many accounts sign, and how many are only read
    copy.bytes(32 * copy.count()); // the accounts
    copy.bytes(32); // a recent block, which ends the validity
    for (let instructions = copy.count(); instructions > 0; instructions--) {
      copy.bytes(1); // the program
      copy.bytes(copy.count()); // its accounts
      copy.bytes(copy.count()); // its data
    }
    for (let tables = hasVersion ? copy.count() : 0; tables > 0; tables--) {
      copy.bytes(32); // the table of accounts
      copy.bytes(copy.count()); // those that are written
      copy.bytes(copy.count()); // those that are only read
    }
    return copy.made();
  } catch (error) {
    if (error instanceof RangeError) return message;
    throw error;
  }
}

/** Copies a message piece by piece; throws a RangeError at its end. */
class Copy {
  readonly #from: Buffer;
  readonly #pieces: Buffer[] = [];
  #at = 0;

  constructor(from: Buffer) {
    this.#from = from;
  }

  bytes(length: number): void {
    const piece = this.#from.subarray(this.#at, this.#at + length);
    if (piece.length < length) throw new RangeError('The message ends before');
    this.#at += length;
    this.#pieces.push(piece);
  }

  /** A count, in up to three bytes of seven bits, the lowest first. The eighth bit says that more bytes follow. */
  count(): number {
    let count = 0;
    for (let bits = 0; bits < 21; bits += 7) {
      const byte = this.#from.readUInt8(this.#at++);
      count |= (byte & 0x7f) << bits;
      if ((byte & 0x80) === 0) break;
    }
    const least = [];
    let rest = count;
    for (; rest > 0x7f; rest >>= 7) least.push((rest & 0x7f) | 0x80);
    this.#pieces.push(Buffer.from([...least, rest]));
    return count;
  }

  made(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

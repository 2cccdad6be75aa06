import { Failed } from '../core/failure.js';
import { Checksums, type ExportedMessage, type ExportLine, parseExportLine } from './format.js';

/** The text for operators about an export of an earlier version. */
export const lacksChecksums =
  'is of an earlier version, without checksums: what was altered in it is not noticed';

/** Reads an export line by line, and checks that each is unchanged. */
export class ExportReader {
  readonly #name: string;
  #number = 0;
  #last: ExportedMessage | undefined;
  #checksums: Checksums | undefined;

  /** `name` is what errors call the export. */
  constructor(name: string) {
    this.#name = name;
  }

  /** The number of the last line that was read, from 1 on. */
  get number(): number {
    return this.#number;
  }

  /** The checksums up to that line; `undefined` for an export of an earlier version, which has none. */
  get checksums(): Checksums | undefined {
    return this.#checksums;
  }

  /** Reads the next line. Throws `Failed` if it is not a line of an export, or was changed. */
  read(line: Buffer): ExportLine {
    this.#number += 1;
    this.#check(line);
    const said = this.#parsed(line.toString());
    if ((this.#number === 1) !== (said.is === 'head'))
      throw this.refusal('the head is not where it should be');
    if (said.is === 'head' && said.hasChecksums) {
      this.#checksums = new Checksums();
      this.#check(line);
    }
    if (said.is === 'message') this.#last = said.message;
    return said;
  }

  /** An error that says why the last line that was read does not belong to an export. */
  refusal(reason: string): Failed {
    return new Failed(`${this.#name}, line ${this.#number}: ${reason}`, 'not_an_export');
  }

  #check(line: Buffer): void {
    if (!this.#checksums || this.#checksums.fits(line)) return;
    const behind = this.#last ? ` (after ${this.#last.stream} ${this.#last.seq})` : '';
    const reason = 'is not as it was written: it was altered, or lines before it were removed or moved';
    const hint = 'Nothing was changed. Take another copy of the file, or export again into another one.';
    throw new Failed(`${this.#name}, line ${this.#number}${behind} ${reason}`, 'export_altered', hint);
  }

  #parsed(line: string): ExportLine {
    try {
      return parseExportLine(line);
    } catch (error) {
      if (this.#number === 1) {
        const hint = 'Name a file that "relay export" of this version, or of an earlier one, has written.';
        throw new Failed(`${this.#name} is no export that this version knows`, 'not_an_export', hint);
      }
      throw this.refusal((error as Error).message);
    }
  }
}

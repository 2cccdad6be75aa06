import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Log, StreamDefinition } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { counted } from '../../words/counted.js';
import { defineCommand, type Invocation, text } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { print } from '../core/terminal.js';
import { openLog, streamNamed } from '../log/open.js';
import { readRange } from '../log/read-range.js';
import { withLogServer } from '../log/server.js';
import { lockExport } from './export-lock.js';
import {
  bytesOf,
  Checksums,
  type ExportedMessage,
  endLine,
  headBeginning,
  headLine,
  isSameMessage,
  linesOf,
  messageLine,
} from './format.js';
import { ExportReader, lacksChecksums } from './reader.js';

/** `relay export` */
export const exportCommand = defineCommand({
  name: 'export',
  summary: 'Write the event log as JSON lines, to move an environment',
  details:
    'Works whether or not the service runs. What is recorded while it is written is left for the next time: for an\n' +
    'export that has everything, stop the service first. A file that is there already is continued after its last\n' +
    'whole line, so that an interrupted export goes on and an old one is brought up to date. Each line ends with a\n' +
    'checksum over it and all lines before it: a file in which one is not as it was written is neither continued\n' +
    'nor imported.',
  options: {
    streams: text('STREAM,...', 'only these; an environment needs all of them (default: all)'),
    out: text('FILE', 'where to (default: the output)'),
  },
  async run(invocation) {
    const { options, terminal } = invocation;
    const { out: file } = options;
    const wanted = options.streams?.split(',').map((name) => streamNamed(name.trim()));
    const config = invocation.config();
    await withLogServer(config, { alone: false }, async (url) => {
      const log = await openLog(url);
      try {
        const headsNow = () => headsOf(log, wanted);
        const heads = await headsNow(); // where there is nothing to export, no file is made
        const out =
          file === undefined
            ? toOutput(invocation, heads)
            : await toFile(file, headsNow, log, invocation.stop);
        if (!out.checksums) terminal.err(`${file} ${lacksChecksums}. Export into another file to have them.`);
        if (out.has)
          terminal.err(`${file} is there already, and is continued. For a new export name another file.`);
        const written = await writeExport(invocation, { log, out, whole: !wanted });
        if (file === undefined) return;
        const seqs = Object.fromEntries(out.heads);
        print(invocation, { file, written, streams: seqs }, `${counted(written, 'fact')} written to ${file}`);
      } finally {
        await log.close();
      }
    });
  },
});

/** The destination of an export, and what it already has. */
interface Output {
  isFile: boolean;
  /** Up to where each stream is exported into it. */
  heads: ReadonlyMap<string, number>;
  /** The last sequence of each stream that it has; `undefined` if it has nothing yet, not even a head. */
  has: ReadonlyMap<string, number> | undefined;
  /** Whether its last line is an end with the same sequences. */
  isComplete: boolean;
  /** The checksums of what it has; `undefined` if an earlier version began it, which made none. */
  checksums: Checksums | undefined;
  write(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

async function writeExport(
  invocation: Invocation,
  { log, out, whole }: { log: Log; out: Output; whole: boolean },
): Promise<number> {
  const { heads } = out;
  const sum = (seqs: Iterable<number>) => [...seqs].reduce((total, seq) => total + seq, 0);
  const progress = showProgress(invocation, 'exporting');
  const write = (lines: string[]) => out.write(bytesOf(lines, out.checksums));
  let written = 0;
  try {
    if (!out.has) await write([headLine([...heads.keys()], whole)]);
    const done = new Map(out.has);
    for (const [name, upTo] of heads) {
      const stream = streamNamed(name);
      for await (const entries of readRange(log, stream, {
        after: done.get(name) ?? 0,
        upTo,
        stop: invocation.stop,
      })) {
        await write(entries.map((entry) => messageLine(name, entry)));
        written += entries.length;
        done.set(name, entries.at(-1)!.seq);
        progress.to(sum(done.values()), sum(heads.values()));
      }
    }
    if (!out.isComplete || written > 0) await write([endLine(heads)]);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'interrupted') throw error;
    throw new Failed(
      'the export was interrupted',
      code,
      out.isFile ? 'The same command goes on with it.' : undefined,
    );
  } finally {
    progress.end();
    await out.close();
  }
  return written;
}

/**
 * Up to where each stream is exported. A fact refers to earlier facts, also of other streams, which come
 * first in the list of streams. The heads are read in the opposite order. So no end cuts off a fact that
 * another one refers to.
 */
async function headsOf(log: Log, wanted: StreamDefinition[] | undefined): Promise<Map<string, number>> {
  const heads: [string, number][] = [];
  for (const stream of streams.filter((one) => wanted?.includes(one) ?? true).reverse()) {
    try {
      heads.unshift([stream.name, await log.head(stream)]);
    } catch (error) {
      if ((error as { cause?: { code?: string } }).cause?.code !== '404') throw error;
      // made by the first start of a version that has it
      if (wanted) throw new Failed(`the log server has no stream ${stream.name}`, 'no_streams');
    }
  }
  if (heads.length > 0) return new Map(heads);
  throw new Failed('the log server has none of the streams yet', 'no_streams');
}

function toOutput({ terminal, stop }: Invocation, heads: ReadonlyMap<string, number>): Output {
  return {
    isFile: false,
    heads,
    has: undefined,
    isComplete: false,
    checksums: new Checksums(),
    write: async (bytes) => {
      terminal.out(bytes.toString('utf8', 0, bytes.length - 1));
      await terminal.room(stop);
    },
    close: async () => {},
  };
}

/**
 * A new file, or one that is continued. Throws `Failed` if it is not an export of the same streams of the
 * same log, or another export writes into it.
 */
async function toFile(
  path: string,
  headsNow: () => Promise<ReadonlyMap<string, number>>,
  log: Log,
  stop: AbortSignal,
): Promise<Output> {
  const unwritable = (error: Error) => {
    throw new Failed(`${path} cannot be written: ${error.message}`, 'file_unwritable');
  };
  const handle = await open(path, 'a+', 0o600).catch(unwritable);
  let unlock = async () => {};
  try {
    // an existing file is read to be continued, and a device may have no end
    if (!(await handle.stat()).isFile())
      throw new Failed(
        `${path} is no file`,
        'file_unwritable',
        'Without --out an export goes to the output.',
      );
    unlock = await lockExport(path);
    await checkBeginning(path, handle);
    // read only now: an export that had the file until now may have gone further
    const heads = await headsNow();
    const found = await readBack(path, heads);
    await checkOrigin(path, found.last, log, stop);
    await handle.truncate(found.size); // what an interruption has left of a line
    return {
      isFile: true,
      heads,
      has: found.size > 0 ? new Map([...found.last].map(([name, { seq }]) => [name, seq])) : undefined,
      isComplete: found.isComplete,
      checksums: found.size > 0 ? found.checksums : new Checksums(),
      write: (bytes) => handle.appendFile(bytes).catch(unwritable),
      close: async () => {
        try {
          await handle.sync();
        } finally {
          await handle.close();
          await unlock();
        }
      },
    };
  } catch (error) {
    await handle.close();
    await unlock();
    throw error;
  }
}

/**
 * Without one whole line nothing of a file is checked line by line. What an interruption leaves of a first line
 * is the beginning of one; a file with anything else is somebody's own. Throws `Failed` if it is one.
 */
async function checkBeginning(path: string, handle: FileHandle): Promise<void> {
  const length = headBeginning.length;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  if (headBeginning.startsWith(buffer.toString('latin1', 0, bytesRead))) return;
  throw new Failed(
    `${path} is there already, and is no export`,
    'not_an_export',
    'Nothing was changed. Name another file.',
  );
}

interface Found {
  /** Bytes up to the end of the last whole line. */
  size: number;
  last: Map<string, ExportedMessage>;
  isComplete: boolean;
  checksums: Checksums | undefined;
}

async function readBack(path: string, heads: ReadonlyMap<string, number>): Promise<Found> {
  const found: Found = { size: 0, last: new Map(), isComplete: false, checksums: undefined };
  const reader = new ExportReader(path);
  for await (const lines of linesOf(createReadStream(path))) {
    for (const { line, end } of lines) {
      found.size = end;
      const said = reader.read(line);
      if (said.is === 'head' && said.streams.join() !== [...heads.keys()].join()) {
        const reason = `${path} is an export of ${said.streams.join(', ')}`;
        throw new Failed(reason, 'other_export', 'Name the same streams, or another file.');
      }
      if (said.is === 'message') found.last.set(said.message.stream, said.message);
      found.isComplete = said.is === 'end' && [...heads].every(([name, seq]) => said.seqs.get(name) === seq);
    }
  }
  return { ...found, checksums: reader.checksums };
}

/** The last message of each stream must be the one that the log has at its sequence. */
async function checkOrigin(
  path: string,
  last: Map<string, ExportedMessage>,
  log: Log,
  stop: AbortSignal,
): Promise<void> {
  for (const [name, message] of last) {
    const stream = streamNamed(name);
    const { seq } = message;
    if (seq <= (await log.head(stream))) {
      let isSame = true; // a message that was dropped since then says nothing
      for await (const [found] of readRange(log, stream, { after: seq - 1, upTo: seq, stop }))
        isSame = found !== undefined && isSameMessage(message, found);
      if (isSame) continue;
    }
    throw new Failed(`${path} is an export of another log: ${name} ${seq} is another fact here`, 'other_log');
  }
}

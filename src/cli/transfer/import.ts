import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pino } from 'pino';
import { Log } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { heldLeases } from '../../../workers/core/lease.js';
import { streamsBudget } from '../../app/dependencies.js';
import type { Config } from '../../config/config.js';
import { counted } from '../../words/counted.js';
import { defineCommand, type Invocation, text } from '../core/command.js';
import { Failed, UsageError } from '../core/failure.js';
import { showProgress } from '../core/progress.js';
import { withScratch } from '../core/scratch.js';
import { print } from '../core/terminal.js';
import { withLogServer } from '../log/server.js';
import { type CheckedExport, checkExport, type ExportSource } from './check.js';
import { lacksChecksums } from './reader.js';
import { writeImport } from './write.js';

/** `relay import` */
export const importCommand = defineCommand({
  name: 'import',
  summary: 'Bring an export into an empty event log, byte by byte and sequence by sequence',
  details:
    'The service must not run. The log must be empty, or hold the beginning of the same export. Then the import goes\n' +
    'on after that. So the same command finishes an import that was interrupted, and changes nothing when it is\n' +
    'repeated. The whole export is checked before anything is written. If a line was altered, removed or moved, the\n' +
    'export is refused with the number of the line. Read models are folded again at the next start. What was shown on\n' +
    'IRC is not shown again.',
  options: { in: text('FILE', 'the export (default: the input)') },
  async run(invocation) {
    await withInput(invocation.options.in, invocation.stop, (source) =>
      withLogServer(invocation.config(), { alone: true }, (url) => bringIn(invocation, source, url)),
    );
  },
});

async function bringIn(invocation: Invocation, source: ExportSource, url: string): Promise<void> {
  const { terminal, stop } = invocation;
  const log = await openTarget(invocation.config(), url);
  try {
    // whoever acts on what is recorded would act on the past while that is brought in
    for (const { name, holder } of await heldLeases(log)) {
      const reason = `a service works with this event log (${holder} has ${name})`;
      const hint = 'Stop it first; one that was killed is forgotten within seconds.';
      throw new Failed(reason, 'log_in_use', hint);
    }
    const checking = showProgress(invocation, 'checking');
    const checked = await checkExport(source, log, { stop, progress: checking }).finally(checking.end);
    if (!checked.hasChecksums) terminal.err(`the export ${lacksChecksums}`);
    const absent = absentIn(checked);
    for (const [name, count] of Object.entries(absent)) {
      const what = `${counted(count, 'sequence')} of ${name} ${count === 1 ? 'is' : 'are'} not in the export`;
      const unless = checked.hasChecksums ? '' : ', or the file was changed';
      terminal.err(`${what}: the exported log did not have them${unless}`);
    }
    const writing = showProgress(invocation, 'importing');
    const imported = await writeImport(source.path, log, checked, { stop, progress: writing }).finally(
      writing.end,
    );
    report(invocation, checked, { imported, absent });
  } finally {
    await log.close();
  }
}

/** How many sequences an export does not have, of streams that let nothing go. */
function absentIn({ streams }: CheckedExport): Record<string, number> {
  const absent: Record<string, number> = {};
  for (const [name, { definition, end, messages }] of streams) {
    const keepsAll = definition.maxAgeMs === 0 && definition.whenFull === 'refuse';
    if (keepsAll && messages < end) absent[name] = end - messages;
  }
  return absent;
}

function report(
  invocation: Invocation,
  checked: CheckedExport,
  { imported, absent }: { imported: number; absent: Record<string, number> },
): void {
  const already = checked.messages - imported;
  const seqs = Object.fromEntries([...checked.streams].map(([name, { end }]) => [name, end]));
  print(
    invocation,
    { imported, already, streams: seqs, absent, checksums: checked.hasChecksums },
    `${counted(imported, 'fact')} imported, there already: ${already}`,
  );
}

/** Opens the log with the streams of the service, which are made where they are missing. */
async function openTarget(config: Config, urls: string): Promise<Log> {
  try {
    return await Log.open({
      urls,
      name: 'relay import',
      streams,
      replicas: config.NATS_REPLICAS,
      maxBytes: await streamsBudget(config),
      logger: pino({ level: 'silent' }),
      importing: true,
    });
  } catch (error) {
    throw new Failed(`the event log cannot be opened: ${(error as Error).message}`, 'log_unavailable');
  }
}

/** Lends the export; what comes from the input is put into a file first, because it is read twice. */
async function withInput(
  file: string | undefined,
  stop: AbortSignal,
  work: (source: ExportSource) => Promise<void>,
): Promise<void> {
  if (file !== undefined) return await work({ path: file, name: file });
  if (process.stdin.isTTY) throw new UsageError('say which export, with --in, or send it to the input');
  await withScratch('import', async (directory) => {
    const path = join(directory, 'export.jsonl');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), {
      signal: stop,
    }).catch((error: Error) => {
      throw new Failed(`the input cannot be kept in ${directory}: ${error.message}`, 'input_unreadable');
    });
    await work({ path, name: 'standard input' });
  });
}

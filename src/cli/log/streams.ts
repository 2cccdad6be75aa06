import type { StreamInfo, StreamState } from 'nats';
import type { Log, StreamDefinition } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { defineCommand } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { bytes, moment, print, writeTable } from '../core/terminal.js';
import { withLog } from './open.js';

/** `relay streams` */
export const streamsCommand = defineCommand({
  name: 'streams',
  also: ['streams list'],
  summary: 'List the streams of the event log with their sizes',
  details:
    'Reads the log server itself. The built-in one runs while the service does; with NATS_URL the service need not run.',
  run: (invocation) =>
    withLog(invocation.config(), async (log) => {
      const found = await streamInfos(log);
      const rows = await Promise.all(
        streams.flatMap((stream) => {
          const info = found.get(stream.name);
          return info ? [rowOf(log, stream, info)] : [];
        }),
      );
      print(invocation, { streams: rows }, () => {
        if (rows.length === 0) throw new Failed('the log server has none of the streams yet', 'no_streams');
        writeTable(
          invocation.terminal,
          ['STREAM', 'FACTS', 'FIRST', 'LAST', 'SIZE', 'LIMIT', 'NEWEST'],
          rows.map((row) => [
            row.stream,
            row.facts,
            row.first_seq,
            row.last_seq,
            bytes(row.bytes),
            row.max_bytes > 0 ? bytes(row.max_bytes) : '-',
            moment(row.last_at),
          ]),
        );
      });
    }),
});

/** What the log server says of each of its streams, by name. */
export async function streamInfos(log: Log): Promise<Map<string, StreamInfo>> {
  const found = new Map<string, StreamInfo>();
  for await (const info of log.manager.streams.list()) found.set(info.config.name, info);
  return found;
}

async function rowOf(log: Log, stream: StreamDefinition, { config, state }: StreamInfo) {
  return {
    stream: config.name,
    subjects: config.subjects,
    facts: state.messages,
    first_seq: state.first_seq,
    last_seq: state.last_seq,
    bytes: state.bytes,
    max_bytes: config.max_bytes,
    last_at: state.messages > 0 ? (await newestAt(log, stream, state)).toISOString() : null,
  };
}

/** The fact's own time: to the log server an imported one is as old as the import. */
async function newestAt(log: Log, stream: StreamDefinition, state: StreamState): Promise<Date> {
  // where the stream does not let it be read alone, as one that is not of our making, the server's time has to do
  const newest = await log.next(stream, state.last_seq).catch(() => undefined);
  return newest?.at ?? new Date(state.last_ts);
}

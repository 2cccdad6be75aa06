import type { StreamInfo, StreamState } from 'nats';
import type { Log, StreamDefinition } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { type Command, Failed } from '../core/command.js';
import { bytes, moment, writeTable } from '../core/terminal.js';
import { openLogReader } from './reader.js';

/** `relay streams` */
export const streamsCommand: Command = {
  name: 'streams',
  also: ['streams list'],
  summary: 'List the streams of the event log with their sizes',
  details: 'Reads the log server itself, so it works whether or not the rest of the service runs.',
  async run({ config, json, terminal }) {
    const log = await openLogReader(config());
    try {
      const found = new Map<string, StreamInfo>();
      for await (const info of log.manager.streams.list()) found.set(info.config.name, info);
      const rows = await Promise.all(
        streams.flatMap((stream) => {
          const info = found.get(stream.name);
          return info ? [rowOf(log, stream, info)] : [];
        }),
      );
      if (json) terminal.out(JSON.stringify({ streams: rows }));
      else if (rows.length === 0)
        throw new Failed('the log server has none of the streams yet', 'no_streams');
      else {
        writeTable(
          terminal,
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
      }
    } finally {
      await log.close();
    }
  },
};

async function rowOf(log: Log, stream: StreamDefinition, { config, state }: StreamInfo): Promise<StreamRow> {
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

interface StreamRow {
  stream: string;
  subjects: string[];
  facts: number;
  first_seq: number;
  last_seq: number;
  bytes: number;
  max_bytes: number;
  last_at: string | null;
}

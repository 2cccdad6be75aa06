import { streams } from '../../streams/index.js';
import { type Command, Failed } from './command.js';
import { openLogReader } from './log-reader.js';
import { bytes, moment, writeTable } from './terminal.js';

/** `relay streams` */
export const streamsCommand: Command = {
  name: 'streams',
  also: ['streams list'],
  summary: 'List the streams of the event log with their sizes',
  details: 'Reads the log server itself, so it works whether or not the rest of the service runs.',
  async run({ config, json, terminal }) {
    const log = await openLogReader(config());
    try {
      const found = new Map<string, StreamRow>();
      for await (const { config: stream, state } of log.manager.streams.list()) {
        found.set(stream.name, {
          stream: stream.name,
          subjects: stream.subjects,
          facts: state.messages,
          first_seq: state.first_seq,
          last_seq: state.last_seq,
          bytes: state.bytes,
          max_bytes: stream.max_bytes,
          last_at: state.messages > 0 ? new Date(state.last_ts).toISOString() : null,
        });
      }
      const rows = streams.flatMap(({ name }) => found.get(name) ?? []);
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

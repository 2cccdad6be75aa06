import { z } from 'zod';
import type { Log } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { Time, text } from '../core/fields.js';
import { defineForOperators } from '../core/operation.js';

const Stream = z.object({
  stream: text('MARKET'),
  facts: z.int().meta({ example: 42 }),
  first: z.int().describe('Sequence of the oldest fact that is kept; 0 before the first'),
  last: z.int().meta({ description: 'Sequence of the newest fact; 0 before the first', example: 42 }),
  last_at: Time.nullable(),
  bytes: z.int().meta({ example: 20_480 }),
  max_bytes: z.int().nullable().meta({ description: 'null: without a bound', example: 1_073_741_824 }),
});

/** What the log holds. */
export const listStreams = defineForOperators('listStreams', {
  summary: 'How many facts each stream of the log holds, and how much room they take',
  says: 'In the order of their list',
  output: z.object({ streams: z.array(Stream) }),
  http: { method: 'get', path: '/ops/streams' },
  run: async (_input, _caller, { log }: { log: Log }) => {
    const infos = streams.map(({ name }) => log.ask(() => log.manager.streams.info(name)));
    return { streams: (await Promise.all(infos)).map(streamView) };
  },
});

function streamView({ config, state }: Awaited<ReturnType<Log['manager']['streams']['info']>>) {
  return {
    stream: config.name,
    facts: state.messages,
    first: state.first_seq,
    last: state.last_seq,
    bytes: state.bytes,
    last_at: state.last_seq === 0 ? null : new Date(state.last_ts).toISOString(),
    max_bytes: config.max_bytes > 0 ? config.max_bytes : null,
  };
}

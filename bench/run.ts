import { parseArgs } from 'node:util';
import { channels } from './channels.js';
import { delivery } from './delivery.js';
import { emmett } from './emmett.js';
import { httpReads } from './http-reads.js';
import { identities } from './identity.js';
import { ingest } from './ingest.js';
import { ingestDuringRebuild } from './ingest-during-rebuild.js';
import { latency } from './latency.js';
import { marketplace } from './marketplace.js';
import { mcp } from './mcp.js';
import { memory } from './memory.js';
import { moderation } from './moderation.js';
import { peers } from './peers.js';
import { reads } from './reads.js';
import { rebuild } from './rebuild.js';
import { recording } from './recording.js';
import { reputation } from './reputation.js';
import { signatures } from './signatures.js';
import { speech } from './speech.js';
import { start } from './start.js';
import { type Benchmark, type Row, runBenchmark } from './support/bench.js';
import { markdown } from './support/table.js';
import { tokens } from './tokens.js';

const benchmarks: Record<string, Benchmark> = {
  ingest,
  delivery,
  latency,
  rebuild,
  emmett,
  reads,
  'http-reads': httpReads,
  'ingest-during-rebuild': ingestDuringRebuild,
  memory,
  start,
  peers,
  channels,
  identity: identities,
  recording,
  reputation,
  marketplace,
  mcp,
  moderation,
  signatures,
  speech,
  tokens,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { small: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !benchmarks[name]);
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}: there are ${Object.keys(benchmarks).join(', ')}`);
  process.exit(2);
}
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

const startedAt = new Date();
const rows: Row[] = [];
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (stop.signal.aborted || (positionals.length > 0 && !positionals.includes(name))) continue;
  try {
    rows.push(...(await runBenchmark(name, benchmark, { small: values.small, stopped: stop.signal })));
  } catch (error) {
    console.error(`${name} failed:`, stop.signal.aborted ? 'it was stopped' : error);
    process.exitCode = 1;
  }
}
console.log(`\n${markdown(rows, startedAt)}`);
if (values.small) console.error('\nThese are the sizes of a trial run: the figures say nothing.');
process.exit();

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

const usage = `npm run bench -- [--small] [NAME]...

Measures the service against floors and peers, and prints a table.

  --small   sizes of a trial run, whose figures say nothing
  NAME      only these: ${Object.keys(benchmarks).join(', ')}`;

const { positionals, values } = readArguments();
const unknown = positionals.filter((name) => !benchmarks[name]);
if (unknown.length > 0) refuse(`unknown benchmark ${unknown.join(', ')}`);
if (values.help) {
  console.log(usage);
  process.exit();
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

function readArguments() {
  try {
    const flag = { type: 'boolean', default: false } as const;
    return parseArgs({ allowPositionals: true, options: { small: flag, help: flag } });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(why: string): never {
  console.error(`${why}\n\n${usage}`);
  process.exit(2);
}

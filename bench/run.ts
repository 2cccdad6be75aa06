import { cpus, totalmem } from 'node:os';
import { delivery } from './delivery.js';
import { ingest } from './ingest.js';
import { printTable, type Result } from './table.js';

const benchmarks: Record<string, () => Promise<Result[]>> = { ingest, delivery };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benchmarks[name]);
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}: there are ${Object.keys(benchmarks).join(', ')}`);
  process.exit(2);
}
const memory = Math.round(totalmem() / 2 ** 30);
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${memory} GiB, Node ${process.versions.node}`,
);
const results: Result[] = [];
for (const [name, run] of Object.entries(benchmarks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`measuring ${name} …`);
  results.push(...(await run()));
}
printTable(results);
process.exit(0);
